/** A `.config` message: for whom, and what it says. */
export interface ConfigText {
  /** Names or mentions after `.config`, in lower case; none: it is for every bot. */
  readonly names: readonly string[];
  readonly yaml: string;
}

const HEAD = /^\.config(?:[ \t]+(\S.*?))?[ \t]*$/i;
const FENCE = /^```(?:ya?ml)?[ \t]*\n([\s\S]*?)\n?```\s*$/;

/**
 * Reads a message whose first line is `.config`, `.config NAME` or `.config NAME, OTHER`; the YAML follows, in a code fence or after a line of
 * `---` if one likes. `undefined` when it is none.
 */
export function parseConfig(content: string): ConfigText | undefined {
  if (content.charCodeAt(0) !== 46) return undefined;
  const text = content.replaceAll('\r\n', '\n');
  const end = text.indexOf('\n');
  const head = HEAD.exec(end < 0 ? text : text.slice(0, end));
  if (head === null) return undefined;
  const names = (head[1] ?? '').split(',').map((name) => name.trim().toLowerCase());
  const body = end < 0 ? '' : text.slice(end + 1).replace(/^---[ \t]*(?:\n|$)/, '');
  return { names: names.filter((name) => name !== ''), yaml: (FENCE.exec(body)?.[1] ?? body).trim() };
}

/** Whether it is for a bot of one of these names. */
export function isFor({ names }: ConfigText, botId: string, botNames: readonly string[]): boolean {
  const mine = new Set([`<@${botId}>`, `<@!${botId}>`, ...botNames.map((name) => name.trim().toLowerCase())]);
  return names.length === 0 || names.some((name) => mine.has(name));
}
