import type { NormalCommand } from '../normal.js';
import { differingPaths } from './values.js';

/** What must change for Discord's list to become ours: `+roll`, `-ban`, `~roll.options.0.min_value`. */
export function* commandDifferences(
  theirs: readonly NormalCommand[],
  ours: readonly NormalCommand[],
): Generator<string> {
  const wanted = new Map(ours.map((command) => [command.name, command]));
  for (const command of theirs) {
    const counterpart = wanted.get(command.name);
    if (counterpart === undefined) yield `-${command.name}`;
    else yield* differingPaths(`~${command.name}`, command, counterpart);
    wanted.delete(command.name);
  }
  for (const name of wanted.keys()) yield `+${name}`;
}
