/** What one line of the console asks for. Message references are the console's own ids: `m3`. */
export type Act =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'react' | 'unreact'; readonly message: string | undefined; readonly emoji: string }
  | { readonly kind: 'slash'; readonly command: string; readonly options: Readonly<Record<string, string>> }
  | { readonly kind: 'click'; readonly message: string; readonly target: string }
  | { readonly kind: 'select'; readonly message: string; readonly menu: string; readonly values: readonly string[] }
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
const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** Beyond some 125 years, Discord's ids run out of digits. */
const LONGEST_WAIT_DAYS = 366;

/** The forms that a line can have, tried in order; the groups of the pattern go to `read`. */
const FORMS: readonly { readonly pattern: RegExp; readonly read: (...groups: readonly string[]) => Act | undefined }[] =
  [
    {
      pattern: /^([+-])1(?:\s+(m\d+))?$/,
      read: (sign, message) => ({ kind: 'react', message: message || undefined, emoji: sign === '+' ? '👍' : '👎' }),
    },
    {
      pattern: /^(react|unreact)\s+(m\d+)\s+(\S+)$/,
      read: (verb, message, emoji = '') => ({ kind: verb === 'react' ? 'react' : 'unreact', message, emoji }),
    },
    { pattern: /^click\s+(m\d+)\s+(.+)$/s, read: (message = '', target = '') => ({ kind: 'click', message, target }) },
    {
      pattern: /^select\s+(m\d+)\s+(.+)$/s,
      read: (message = '', rest = '') => {
        const [menu = '', ...values] = words(rest);
        return { kind: 'select', message, menu, values };
      },
    },
    {
      pattern: /^submit\s+([\p{L}\p{N}_-]+:.+)$/su,
      read: (fields = '') => ({ kind: 'submit', fields: pairs(fields) }),
    },
    {
      pattern: /^wait\s+(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/,
      read: (amount, unit) =>
        isUnit(unit) ? { kind: 'wait', ms: waitMs(Number(amount) * UNITS_MS[unit]) } : undefined,
    },
    {
      pattern: /^\/([a-z0-9_-]+(?:\s+[a-z0-9_-]+(?=\s|$)){0,2})(?:\s+(.*))?$/su,
      read: (command = '', options = '') => ({
        kind: 'slash',
        command: command.replace(/\s+/g, ' '),
        options: pairs(options),
      }),
    },
  ];

/** Reads a line. Whatever is no instruction is something to say; an empty line is `undefined`. */
export function parseLine(line: string): Instruction | undefined {
  const text = line.replace(/\r?\n$/, '');
  if (text.trim() === '') return undefined;
  const [, who, rest] = WHO.exec(text) ?? [];
  return { who: who?.toLowerCase() === 'you' ? undefined : who, act: parseAct(rest ?? text) };
}

function parseAct(text: string): Act {
  for (const { pattern, read } of FORMS) {
    const groups = pattern
      .exec(text.trim())
      ?.slice(1)
      .map((group) => group ?? '');
    const act = groups === undefined ? undefined : read(...groups);
    if (act !== undefined) return act;
  }
  return { kind: 'say', text };
}

function waitMs(ms: number): number {
  if (ms > LONGEST_WAIT_DAYS * UNITS_MS.d)
    throw new ConsoleError(`Time can be moved by ${LONGEST_WAIT_DAYS} days at most.`);
  return ms;
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
