import type { Access, Actor } from '@cinnabar/sdk';
import { denial } from '../answers/denial.js';
import { echo } from '../answers/echo.js';
import { nearest } from '../directory/nearest.js';
import { visibleAmong } from '../directory/visible.js';
import { type CommandEntry, type GroupEntry, leavesOf } from '../registry/entry.js';

/**
 * What a group answers when no command of it was named: those that the actor may run.
 * @param stray the word that names none of them
 * @throws CINNABAR_ACCESS_DENIED when the actor may run none
 */
export async function groupHelp(
  access: Access,
  actor: Actor,
  group: GroupEntry,
  prefix: string,
  stray: string | undefined,
): Promise<string> {
  const leaves = leavesOf(group).filter((leaf) => leaf.surface !== 'slash');
  const { visible, refusal } = await visibleAmong(access, actor, leaves);
  if (visible.length === 0 && refusal !== undefined) throw denial(refusal);
  return [
    ...(stray === undefined ? [] : [strayLine(group, prefix, stray, visible)]),
    `**${prefix}${group.name}**: ${group.description}`,
    ...visible.map((leaf) => line(leaf, prefix)),
    ...(group.help === undefined ? [] : [group.help]),
  ].join('\n');
}

function strayLine(group: GroupEntry, prefix: string, stray: string, visible: readonly CommandEntry[]): string {
  const typed = `${group.name} ${stray}`;
  const [near] = nearest(
    stray,
    visible.map((leaf) => leaf.key),
  );
  const meant = visible.find((leaf) => leaf.key === near);
  const hint = meant === undefined ? '' : ` Did you mean ${echo(`${prefix}${meant.name}`)}?`;
  return `There is no ${echo(prefix + typed)}.${hint}`;
}

function line({ name, description, info }: CommandEntry, prefix: string): string {
  return `\`${`${prefix}${name} ${info.usage}`.trimEnd()}\` ${description}`;
}
