import { CinnabarError } from '@cinnabar/sdk';
import { type CommandEntry, type Entry, type GroupEntry, leavesOf } from '../registry/entry.js';
import { MAX_CHARACTERS, MAX_COMMANDS, MAX_OPTIONS } from './limits.js';
import { type CommandPayload, commandPayload } from './payload.js';
import { anyBelongs, belongs, type SlashScope } from './scope.js';
import { sizeOf } from './size.js';

/** What is sent to Discord, and what did not fit. */
export interface Fitted {
  readonly payloads: readonly CommandPayload[];
  /** CINNABAR_COMMAND_CAP for each limit that was met. */
  readonly overflow: readonly CinnabarError[];
}

/**
 * The slash commands of one list, within Discord's limits. What stays is always the same: the first hundred commands by name,
 * and the first commands of a group in the order of their declaration. The rest works with a prefix only.
 */
export function fitCommands(roots: readonly Entry[], scope: SlashScope): Fitted {
  const candidates = roots.filter((root) => anyBelongs(root, scope)).sort((a, b) => (a.key < b.key ? -1 : 1));
  const overflow: CinnabarError[] = [];
  const report = (cap: number, kind: string, count: number, names: readonly string[]) => {
    if (names.length === 0) return;
    overflow.push(new CinnabarError('CINNABAR_COMMAND_CAP', { cap, kind, count, names: names.join(', ') }));
  };
  report(MAX_COMMANDS, 'chat input', candidates.length, candidates.slice(MAX_COMMANDS).map(nameOf));
  const payloads = candidates.slice(0, MAX_COMMANDS).flatMap((root) => fitOne(root, scope, report));
  return { payloads, overflow };
}

type Report = (cap: number, kind: string, count: number, names: readonly string[]) => void;

function fitOne(root: Entry, scope: SlashScope, report: Report): readonly CommandPayload[] {
  const declared = leavesOf(root).filter((leaf) => belongs(leaf, scope));
  const listed = root.kind === 'command' ? declared : listable(root, scope, report);
  const kept = [...listed];
  const build = () => commandPayload(root, scope, (leaf) => kept.includes(leaf));
  let payload = build();
  const size = sizeOf(payload);
  while (kept.length > 0 && sizeOf(payload) > MAX_CHARACTERS) {
    kept.pop();
    payload = build();
  }
  report(MAX_CHARACTERS, `characters of "${root.key}"`, size, listed.slice(kept.length).map(nameOf));
  return kept.length === 0 ? [] : [payload];
}

/** The commands of a group that fit in its list, and in those of the groups in it. */
function listable(group: GroupEntry, scope: SlashScope, report: Report): readonly CommandEntry[] {
  const children = group.children.filter((child) => anyBelongs(child, scope));
  report(MAX_OPTIONS, `"${group.name}" sub`, children.length, children.slice(MAX_OPTIONS).map(nameOf));
  return children
    .slice(0, MAX_OPTIONS)
    .flatMap((child) => (child.kind === 'command' ? [child] : listable(child, scope, report)));
}

function nameOf(entry: Entry): string {
  return entry.name;
}
