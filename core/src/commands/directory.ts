import type { Access, Actor, Commands, Decision } from '@cinnabar/sdk';
import { distance } from 'fastest-levenshtein';
import type { CommandServices } from './commands.js';
import type { CommandEntry, Registry } from './registry.js';

type Parts = Pick<CommandServices, 'access' | 'enabledIn'>;

/** What others may know of the registered commands: help and `ai` read it. */
export function createDirectory(
  { access, enabledIn }: Parts,
  registry: Registry,
): Pick<Commands, 'visibleTo' | 'similar'> {
  return {
    async visibleTo(actor) {
      const enabled = registry.leaves().filter((leaf) => enabledIn(actor.guildId, leaf.owner.plugin));
      const { visible } = await visibleAmong(access, actor, enabled);
      return visible.map((leaf) => leaf.info).sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    similar: (name, among) =>
      nearest(
        name,
        among.map((info) => info.name),
      ),
  };
}

/** How far a name may be from what was typed: one slip in three characters, two at most. */
function tolerance(typed: string): number {
  return Math.min(2, Math.floor(typed.length / 3));
}

/** The names that `typed` may have been meant to be, the nearest first. Names that cannot be near are not measured. */
export function nearest(typed: string, names: Iterable<string>): readonly string[] {
  const folded = typed.toLowerCase();
  const bound = tolerance(folded);
  if (bound === 0) return [];
  const near: { readonly name: string; readonly away: number }[] = [];
  for (const name of names) {
    if (Math.abs(name.length - folded.length) > bound) continue;
    const away = slips(folded, name.toLowerCase());
    if (away > 0 && away <= bound) near.push({ name, away });
  }
  return near.sort((a, b) => a.away - b.away || (a.name < b.name ? -1 : 1)).map(({ name }) => name);
}

/** How many slips of the hand lie between two words; two letters that changed places are one. */
function slips(typed: string, name: string): number {
  const edits = distance(typed, name);
  return edits === 2 && sorted(typed) === sorted(name) ? 1 : edits;
}

function sorted(word: string): string {
  return [...word].sort().join('');
}

/** Those commands that the actor may run there, and the last refusal. */
export async function visibleAmong(
  access: Access,
  actor: Actor,
  commands: readonly CommandEntry[],
): Promise<{ readonly visible: readonly CommandEntry[]; readonly refusal: Decision | undefined }> {
  const decided = await Promise.all(
    commands.map(async (command) => ({
      command,
      decision: await access.decide(actor, {
        kind: 'command',
        name: command.name,
        plugin: command.owner.id,
        policy: command.policy,
      }),
    })),
  );
  return {
    visible: decided.filter(({ decision }) => decision.allowed).map(({ command }) => command),
    refusal: decided.findLast(({ decision }) => !decision.allowed)?.decision,
  };
}
