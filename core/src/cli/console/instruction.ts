/** The action of a console line. Message references are the console's own ids: `m3`. */
export type Act =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'react' | 'unreact'; readonly message: string | undefined; readonly emoji: string }
  | { readonly kind: 'slash'; readonly command: string; readonly options: Readonly<Record<string, string>> }
  | { readonly kind: 'click'; readonly message: string; readonly target: string }
  | { readonly kind: 'select'; readonly message: string; readonly text: string }
  | { readonly kind: 'submit'; readonly fields: Readonly<Record<string, string>> }
  | { readonly kind: 'reply' | 'edit'; readonly message: string; readonly text: string }
  | { readonly kind: 'delete'; readonly message: string }
  | { readonly kind: 'attach'; readonly file: string; readonly text: string }
  | { readonly kind: 'thread'; readonly message: string; readonly name: string }
  | { readonly kind: 'channel'; readonly name: string }
  | { readonly kind: 'role'; readonly name: string; readonly words: readonly string[] }
  | { readonly kind: 'go'; readonly place: string }
  | { readonly kind: 'where' | 'open' | 'help' | 'exit' }
  | { readonly kind: 'wait'; readonly ms: number };

export interface Instruction {
  /** Name of the member who acts; `undefined` is @you. */
  readonly who: string | undefined;
  readonly act: Act;
}

/** A line that cannot be carried out, with the correct form. */
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
      read: (message = '', text = '') => ({ kind: 'select', message, text }),
    },
    {
      pattern: /^submit\s+([\p{L}\p{N}_-]+:.+)$/su,
      read: (fields = '') => ({ kind: 'submit', fields: pairs(fields) }),
    },
    {
      pattern: /^(reply|edit)\s+(m\d+)\s+(.+)$/s,
      read: (verb, message = '', text = '') => ({ kind: verb === 'reply' ? 'reply' : 'edit', message, text }),
    },
    { pattern: /^delete\s+(m\d+)$/, read: (message = '') => ({ kind: 'delete', message }) },
    {
      pattern: /^attach\s+(?:"([^"]+)"|(\S+))(?:\s+(.+))?$/s,
      read: (quoted, bare, text = '') => ({ kind: 'attach', file: quoted || bare || '', text }),
    },
    { pattern: /^thread\s+(m\d+)\s+(.+)$/, read: (message = '', name = '') => ({ kind: 'thread', message, name }) },
    { pattern: /^channel\s+#?([\p{Ll}\p{N}_-]{1,100})$/u, read: (name = '') => ({ kind: 'channel', name }) },
    {
      pattern: /^role\s+@?(\p{Lu}[\p{L}\p{N}_-]{0,99})((?:\s+@?[\p{L}\p{N}_.-]+)*)$/u,
      read: (name = '', words = '') => ({ kind: 'role', name, words: words.split(/\s+/).filter(Boolean) }),
    },
    { pattern: /^go\s+(#[\p{L}\p{N}_-]+|dm|m\d+)$/u, read: (place = '') => ({ kind: 'go', place }) },
    {
      pattern: /^(where|open|help|exit|quit)$/,
      read: (word) => ({ kind: word === 'where' || word === 'open' || word === 'help' ? word : 'exit' }),
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

/** The output of `help`. */
export const HELP = `hello everyone            say it as @you            @alice: hi            say it as another member
reply m3 sure             answer m3                 edit m3 …, delete m3  change or remove an own message
+1 · -1 · +1 m3           press 👍 or 👎            react m3 🎉 · unreact m3 🎉
/roll sides:20            a slash command           click m3 Stop · select m3 Menu a · submit field:value
@Cinnabar, @alice, #dev   mentions                  attach FILE words     send a file
go #dev · go dm · go m3   another channel, a direct message to the bot, the thread of m3
channel dev               make a channel            thread m3 a name      start a thread
role Crew @alice          make a role, give it      role Mods KickMembers with permissions
wait 61s                  let time pass             where                 channels and people
\\wait 5                   a line that begins with \\ is said as it is
open                      see it in a browser       @alice: open          as another member
help · exit               Tab completes, ↑ brings earlier lines back
`;

/** The first words of instructions, for completion. */
export const VERBS = [
  'react',
  'unreact',
  'click',
  'select',
  'submit',
  'reply',
  'edit',
  'delete',
  'attach',
  'thread',
  'channel',
  'role',
  'go',
  'wait',
  'where',
  'open',
  'help',
  'exit',
];

const HINTS: readonly { readonly looks: RegExp; readonly hint: string }[] = [
  { looks: /^[+-]\d+(?:\s|$)/, hint: '+1, -1, or +1 m3' },
  { looks: /^(?:un)?react(?:\s+m\d+.*|\s*)$/s, hint: 'react m3 🎉' },
  { looks: /^click(?:\s+m\d+.*|\s*)$/s, hint: 'click m3 Stop, with the words on the button' },
  { looks: /^select(?:\s+m\d+.*|\s+\p{Lu}.*|\s*)$/su, hint: 'select m3 value, or select m3 Menu value' },
  { looks: /^submit(?:\s+\S+\s*=.*|\s+\S+|\s*)$/s, hint: 'submit field:value' },
  { looks: /^(?:reply|edit)(?:\s+m\d+.*|\s*)$/s, hint: 'reply m3 words, or edit m3 words' },
  { looks: /^delete(?:\s+m\d+.*|\s*)$/s, hint: 'delete m3' },
  { looks: /^thread(?:\s+m\d+.*|\s*)$/s, hint: 'thread m3 name' },
  { looks: /^role(?:\s+@?\p{Lu}.*|\s*)$/su, hint: 'role Crew @alice, or role Mods KickMembers @alice' },
  { looks: /^(?:attach|channel|go)\s*$/, hint: 'attach FILE words, channel NAME, or go #general' },
  { looks: /^wait(?:\s+\d.*|\s*)$/s, hint: 'wait 61s, with ms, s, m, h or d' },
  { looks: /^m\d+(?:\s|$)/, hint: 'reply m3 words' },
  { looks: /^\//, hint: '/command option:value, all in lower case' },
];

/** Parses a line. A line that is no instruction is a message to send; an empty line is `undefined`. @throws ConsoleError for a mistyped instruction */
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
  if (text.startsWith('\\')) return { kind: 'say', text: text.slice(1) };
  const hint = HINTS.find(({ looks }) => looks.test(text.trim()))?.hint;
  if (hint !== undefined)
    throw new ConsoleError(`This was not sent. It is written: ${hint}. To say it, begin with \\.`);
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
