import { nameText, plainText, t, visible } from '@cinnabar/sdk';

/** What is said when: in the channel, to the member alone, when somebody leaves, when a bot is added. */
export const KINDS = ['greeting', 'direct', 'goodbye', 'bot'] as const;
export type Kind = (typeof KINDS)[number];

export const LIMITS = { texts: 10, length: 1_000 } as const;
/** Discord's. */
const LONGEST_MESSAGE = 2_000;

/** Whom a text is about, and where. */
export interface Arrival {
  readonly memberId: string;
  readonly name: string;
  readonly server: string;
  /** Members of the server with this one. */
  readonly count: number;
}

const PLACEHOLDERS: Readonly<Record<string, (arrival: Arrival) => string>> = {
  member: ({ memberId }) => `<@${memberId}>`,
  name: ({ name }) => plainText(visible(name)),
  server: ({ server }) => plainText(visible(server)),
  count: ({ count }) => String(count),
};
const PLACEHOLDER = /\{(\w+)\}/g;

/** Fills in the placeholders once: a name that looks like a placeholder, a mention or markup stays a name. */
export function fillIn(text: string, arrival: Arrival): string {
  const filled = text.replace(PLACEHOLDER, (written, key: string) =>
    Object.hasOwn(PLACEHOLDERS, key) ? (PLACEHOLDERS[key]?.(arrival) ?? written) : written,
  );
  return filled.length <= LONGEST_MESSAGE ? filled : `${filled.slice(0, LONGEST_MESSAGE - 1)}…`;
}

/** Why a text cannot be used; `undefined` when it can. */
export function problemOf(text: string): string | undefined {
  if (text.trim() === '') return t('A text cannot be empty.');
  if (text.length > LIMITS.length)
    return t('A text has at most {most} characters; this one has {length}.', {
      most: LIMITS.length,
      length: text.length,
    });
  const unknown = [...text.matchAll(PLACEHOLDER)]
    .map(([, key = '']) => key)
    .find((key) => !Object.hasOwn(PLACEHOLDERS, key));
  if (unknown === undefined) return undefined;
  return t('I do not know the placeholder {placeholder}; there are {known}.', {
    placeholder: nameText(`{${unknown}}`),
    known: Object.keys(PLACEHOLDERS)
      .map((key) => `{${key}}`)
      .join(', '),
  });
}
