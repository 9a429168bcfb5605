import {
  type AliasExpansion,
  type Disposer,
  type GuildCommand,
  type GuildCommands,
  option,
  TIERS,
  type Tier,
} from '@cinnabar/sdk';
import type { EnabledIn, Owner } from '../contracts.js';
import { skipSpace, skipWord } from './arguments.js';
import { buildCommand, type CommandEntry } from './registry.js';

/** Maximum depth of aliases that refer to other aliases. */
const MOST_EXPANSIONS = 5;
/** Maximum length of a message after its alias was expanded. */
const LONGEST_EXPANDED = 4_000;

export type GuildCommandDirectory = ReturnType<typeof createGuildCommands>;

/** The commands and aliases that members have made for one guild: see `Registrar.guildCommands`. */
export function createGuildCommands(enabledIn: EnabledIn) {
  const sources = new Set<{ readonly owner: Owner; readonly made: GuildCommands }>();
  /** The entry of each command, the same while the plugin keeps the command, so that its cooldown applies. */
  const entries = new WeakMap<GuildCommand, CommandEntry>();

  const entryOf = (owner: Owner, made: GuildCommand): CommandEntry => {
    const known = entries.get(made);
    if (known !== undefined) return known;
    const { name, description, cooldown, run } = made;
    const built = buildCommand(owner, {
      name,
      description,
      surface: 'prefix',
      access: { where: 'guild' },
      options: { text: option.rest().optional().describe('What it answers to') },
      ...(cooldown === undefined ? {} : { cooldown }),
      run: (context, { text }) => run(context, typeof text === 'string' ? text : ''),
    });
    const entry = { ...built, isOfGuild: true };
    entries.set(made, entry);
    return entry;
  };
  const of = (guildId: string | null) =>
    guildId === null ? [] : [...sources].filter(({ owner }) => enabledIn(guildId, owner.plugin));

  return {
    register(owner: Owner, made: GuildCommands): Disposer {
      const source = { owner, made };
      const dispose = owner.scope.add('commands of guilds', () => sources.delete(source));
      sources.add(source);
      return dispose;
    },
    find(guildId: string | null, name: string): CommandEntry | undefined {
      if (guildId === null || sources.size === 0) return undefined;
      for (const { owner, made } of of(guildId)) {
        const found = made.find(guildId, name);
        if (found !== undefined) return entryOf(owner, found);
      }
      return undefined;
    },
    list: (guildId: string | null): readonly CommandEntry[] =>
      of(guildId).flatMap(({ owner, made }) => made.list(guildId ?? '').map((one) => entryOf(owner, one))),
    /**
     * Replaces the alias with which a message begins by its text; `undefined` when the first word is no alias.
     * @param isTaken whether a word names a command, which takes precedence over an alias
     */
    expand(
      guildId: string | null,
      content: string,
      start: number,
      isTaken: (word: string) => boolean,
    ): AliasExpansion | undefined {
      if (guildId === null || sources.size === 0) return undefined;
      const among = of(guildId);
      let text = content;
      let tier: Tier = 'botOwner';
      for (let times = 0; times < MOST_EXPANSIONS; times += 1) {
        const end = skipWord(text, start);
        const word = text.slice(start, end).toLowerCase();
        if (isTaken(word)) break;
        const rest = text.slice(skipSpace(text, end));
        const [meant] = among.flatMap(({ made }) => made.expand?.(guildId, word, rest) ?? []);
        if (meant === undefined) break;
        text = (text.slice(0, start) + meant.text.trimStart()).slice(0, LONGEST_EXPANDED);
        if (TIERS.indexOf(meant.tier) < TIERS.indexOf(tier)) tier = meant.tier;
      }
      return text === content ? undefined : { text, tier };
    },
  };
}
