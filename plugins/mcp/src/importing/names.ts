import { createHash } from 'node:crypto';

const LONGEST = 64;
const MARK_LENGTH = 6;

/**
 * Names for a server's tools in the host: `<server>_<tool>`, letters, digits and `_`, at most 64. Where two would be the same, or one
 * had to be cut, a mark made from the whole name keeps them apart.
 */
export function importedNames(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const plain = new Map(tools.map((tool) => [tool, plainName(server, tool)]));
  const uses = (name: string) => [...plain.values()].filter((other) => other === name).length;
  return new Map(
    [...plain].map(([tool, name]) => [tool, uses(name) > 1 || name.length > LONGEST ? marked(name, tool) : name]),
  );
}

function plainName(server: string, tool: string): string {
  return `${server}_${tool}`.replace(/[^A-Za-z0-9_]/g, '_');
}

function marked(name: string, tool: string): string {
  const mark = createHash('sha256').update(tool).digest('hex').slice(0, MARK_LENGTH);
  return `${name.slice(0, LONGEST - MARK_LENGTH - 1)}_${mark}`;
}
