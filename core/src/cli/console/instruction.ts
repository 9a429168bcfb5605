/** What one line of the console asks for. Message references are the console's own ids: `m3`. */
export type Act =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'react' | 'unreact'; readonly message: string | undefined; readonly emoji: string }
  | { readonly kind: 'slash'; readonly command: string; readonly options: Readonly<Record<string, string>> }
  | { readonly kind: 'click'; readonly message: string; readonly target: string }
  | { readonly kind: 'select'; readonly message: string; readonly values: readonly string[] }
  | { readonly kind: 'submit'; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: 'wait'; readonly ms: number };

export interface Instruction {
  /** Name of the member who acts; `undefined` is @you. */
  readonly who: string | undefined;
  readonly act: Act;
}

/** A line that cannot be carried out, with what would be right. */
export class ConsoleError extends Error {}

const WHO = /^@([\p{L}\p{N}_.-]{1,32}):\s*(.*)$/su;
const THUMB = /^([+-])1(?:\s+(m\d+))?$/;
const REACT = /^(react|unreact)\s+(m\d+)\s+(\S+)$/;
const CLICK = /^click\s+(m\d+)\s+(.+)$/s;
const SELECT = /^select\s+(m\d+)\s+(.+)$/s;
const SUBMIT = /^submit\s+(.+)$/s;
const WAIT = /^wait\s+(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/;
const SLASH = /^\/([a-z0-9_-]+(?:\s+[a-z0-9_-]+(?=\s|$)(?!:)){0,2})(?:\s+(.*))?$/su;
const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Reads a line. Whatever is no instruction is something to say; an empty line is `undefined`. */
export function parseLine(line: string): Instruction | undefined {
  const text = line.replace(/\r?\n$/, '');
  if (text.trim() === '') return undefined;
  const [, who, rest] = WHO.exec(text) ?? [];
  return { who: who?.toLowerCase() === 'you' ? undefined : who, act: parseAct(rest ?? text) };
}

function parseAct(text: string): Act {
  const line = text.trim();
  const [, thumb, thumbMessage] = THUMB.exec(line) ?? [];
  if (thumb !== undefined) return { kind: 'react', message: thumbMessage, emoji: thumb === '+' ? '👍' : '👎' };
  const [, verb, message, emoji] = REACT.exec(line) ?? [];
  if (message !== undefined && emoji !== undefined)
    return { kind: verb === 'react' ? 'react' : 'unreact', message, emoji };
  const [, clicked, target] = CLICK.exec(line) ?? [];
  if (clicked !== undefined && target !== undefined) return { kind: 'click', message: clicked, target };
  const [, menu, values] = SELECT.exec(line) ?? [];
  if (menu !== undefined && values !== undefined) return { kind: 'select', message: menu, values: words(values) };
  const [, fields] = SUBMIT.exec(line) ?? [];
  if (fields !== undefined && fields.includes(':')) return { kind: 'submit', fields: pairs(fields) };
  const [, amount, unit] = WAIT.exec(line) ?? [];
  if (amount !== undefined && isUnit(unit)) return { kind: 'wait', ms: Number(amount) * UNITS_MS[unit] };
  const [, command, options] = SLASH.exec(line) ?? [];
  if (command !== undefined)
    return { kind: 'slash', command: command.replace(/\s+/g, ' '), options: pairs(options ?? '') };
  return { kind: 'say', text };
}

function isUnit(text: string | undefined): text is keyof typeof UNITS_MS {
  return text !== undefined && text in UNITS_MS;
}

/** `sides:20 text:"two words"`. A value without quotes goes up to the next ` name:`. */
function pairs(text: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const pattern = /([\p{L}\p{N}_-]+):\s*(?:"((?:[^"\\]|\\.)*)"|(.*?))(?=\s+[\p{L}\p{N}_-]+:|\s*$)/gsu;
  for (const [, name, quoted, bare] of text.matchAll(pattern)) {
    if (name !== undefined) found[name] = quoted?.replace(/\\(.)/gs, '$1') ?? bare?.trim() ?? '';
  }
  if (text.trim() !== '' && Object.keys(found).length === 0) {
    throw new ConsoleError(`Options are written name:value, as in "/roll sides:20"; this is not: ${text}`);
  }
  return found;
}

function words(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
