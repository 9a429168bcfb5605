import type { Access, Actor, Decision } from '@cinnabar/sdk';
import type { CommandEntry } from '../registry/entry.js';

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
