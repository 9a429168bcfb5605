import { folded, isForm } from './words.js';

/** A time that a question names, in ms since the epoch. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/** Languages whose names of months and of days from now are understood, as ICU has them. */
const LOCALES =
  'en de fr es it pt nl sv da nb fi is pl cs sk sl hr sr ro hu bg ru uk el tr ca et lv lt he ar fa hi bn id vi th ja ko zh'.split(
    ' ',
  );
const DAY_MS = 86_400_000;
/** So many words from the month its year may stand: "May 8th, 2023", "8 de mayo de 2023". */
const NEAR = 3;
const RELATIVE = [
  ['day', 0],
  ['day', -1],
  ['day', -2],
  ['week', -1],
  ['month', -1],
  ['year', -1],
] as const;
type Unit = (typeof RELATIVE)[number][0];
interface Relative {
  readonly unit: Unit;
  readonly offset: number;
}

/** Whether a moment is at a time that the text names; `undefined` where it names none. Days are those of UTC. */
export function timesIn(text: string, now: number): ((at: number) => boolean) | undefined {
  const spans = [...monthsIn(text, now), ...relativeIn(text, now)];
  return spans.length === 0 ? undefined : (at) => spans.some(({ from, to }) => at >= from && at < to);
}

/**
 * A month has a number beside it or a capital within a sentence: "May I" is none. Without a year it is the latest one.
 * @example `May 2023`, `8 мая 2023`, `2023年5月`
 */
function monthsIn(text: string, now: number): readonly Span[] {
  const names = monthNames();
  const tokens = text.normalize('NFKC').match(/\p{L}[\p{L}\p{M}]*|\p{N}+/gu) ?? [];
  return tokens.flatMap((token, index) => {
    const numbered = names.get(folded(`${tokens[index - 1] ?? ''}${token}`));
    const month = numbered ?? monthCalled(folded(token), names);
    const numbers = tokens.slice(Math.max(0, index - NEAR), index + NEAR + 1).filter((one) => /^\p{N}+$/u.test(one));
    const isName = numbers.length > 0 || (index > 0 && /^\p{Lu}/u.test(token));
    if (month === undefined || !isName) return [];
    const year = numbers.map(Number).find((number) => number >= 1900 && number < 2200);
    const today = new Date(now);
    const latest = today.getUTCFullYear() - (month > today.getUTCMonth() ? 1 : 0);
    return { from: Date.UTC(year ?? latest, month), to: Date.UTC(year ?? latest, month + 1) };
  });
}

function monthCalled(word: string, names: ReadonlyMap<string, number>): number | undefined {
  return names.get(word) ?? [...names].find(([name]) => isForm(word, name))?.[1];
}

/** "Yesterday", "vorgestern", "на прошлой неделе". */
function relativeIn(text: string, now: number): readonly Span[] {
  const said = ` ${(folded(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).join(' ')} `;
  return [...relativeNames()]
    .filter(([name]) => said.includes(isUnspaced(name) ? name : ` ${name} `))
    .map(([, relative]) => spanFrom(relative, now));
}

function spanFrom({ unit, offset }: Relative, now: number): Span {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const today = Date.UTC(year, month, date.getUTCDate());
  switch (unit) {
    case 'day':
      return { from: today + offset * DAY_MS, to: today + (offset + 1) * DAY_MS };
    case 'week':
      // Where the week begins differs; seven days before this day are in it mostly.
      return { from: today + (offset * 7 - 6) * DAY_MS, to: today };
    case 'month':
      return { from: Date.UTC(year, month + offset), to: Date.UTC(year, month + offset + 1) };
    case 'year':
      return { from: Date.UTC(year + offset, 0), to: Date.UTC(year + offset + 1, 0) };
  }
}

const isUnspaced = (name: string) => /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}]/u.test(name);

const monthNames = once(() => {
  const names = new Map<string, number>();
  for (const locale of LOCALES) {
    for (const options of [{ month: 'long' }, { day: 'numeric', month: 'long' }] as const) {
      const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC', calendar: 'gregory' });
      for (let month = 0; month < 12; month++) {
        const parts = format.formatToParts(Date.UTC(2024, month, 15));
        const at = parts.findIndex(({ type }) => type === 'month');
        const name = folded(parts[at]?.value ?? '');
        // Japanese has the number apart from its sign.
        names.set(/\p{L}/u.test(name) ? name : `${name}${parts[at + 1]?.value.trim() ?? ''}`, month);
      }
    }
  }
  return names;
});

const relativeNames = once(() => {
  const names = new Map<string, Relative>();
  for (const locale of LOCALES) {
    const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
    for (const [unit, offset] of RELATIVE) {
      const name = folded(format.format(offset, unit));
      // Where a language has no word for it, there is a number: "2 days ago".
      if (!/\p{N}/u.test(name)) names.set(name.replaceAll(/[^\p{L}\p{M}]+/gu, ' ').trim(), { unit, offset });
    }
  }
  return names;
});

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
