import type { Asked } from './traffic.js';

/** Answers of the bot when it does not know whether something was done, or has done nothing. */
const REFUSED = /interrupted|cannot (?:save|read)|stopped or restarted|went wrong|try again/i;
const COUNTED = /^tally (\d+)$/;
const CHANGED = /^`word` of `tally` is `\w+` for this server now\.$/;

/** State of the judge between rounds. */
export interface Known {
  /** The last counter value of each server, by its id. */
  readonly counted: Map<string, number>;
  /** The possible words of each server, by its id: more than one when it is unknown whether a change took effect. */
  readonly words: Map<string, ReadonlySet<string>>;
}

export const nothingKnown = (): Known => ({ counted: new Map(), words: new Map() });

/** Whether the person has their answer. For a slash command without a response, Discord itself shows the failure. */
export const isAnswered = ({ kind, answers, interaction }: Asked): boolean =>
  kind === 'mark' || answers.length > 0 || interaction?.expired === true;

/**
 * Compares the answers that people have read with their requests.
 * @param known updated by this function
 * @param stored the stored state of each server
 * @param isHandOver whether no process has failed: then no event may be lost
 */
export function judge(
  asked: readonly Asked[],
  known: Known,
  stored: ReadonlyMap<string, number>,
  isHandOver: boolean,
): readonly string[] {
  const guilds = new Set(asked.map(guildOf));
  return [
    ...asked.flatMap((one) => judgeAnswers(one, isHandOver)),
    ...[...guilds].flatMap((guildId) => {
      const here = asked.filter((one) => guildOf(one) === guildId);
      const before = known.counted.get(guildId) ?? 0;
      const now = stored.get(guildId) ?? 0;
      known.counted.set(guildId, now);
      const commands = here.filter(({ kind }) => kind === 'tally' || kind === 'slash');
      return [...judgeTally(guildId, commands, before, now), ...judgeWords(guildId, here, known.words)];
    }),
  ];
}

const guildOf = ({ channel }: Asked) => channel.guild?.id ?? '';

const RIGHT: Readonly<Record<Exclude<Asked['kind'], 'mark'>, RegExp>> = {
  tally: COUNTED,
  slash: COUNTED,
  repeat: /^repeated$/,
  word: /^word \w+$/,
  set: CHANGED,
};

function judgeAnswers({ kind, id, channel, answers, interaction }: Asked, isHandOver: boolean): readonly string[] {
  const name = `${kind} ${id} in ${channel.guild?.name}`;
  const texts = answers.map(({ text }) => text);
  if (kind === 'mark') {
    if (texts.length > 1) return [`${name}: an effect was there ${texts.length} times`];
    return texts.length === 0 && isHandOver ? [`${name}: it was not heard, although nothing failed`] : [];
  }
  const [text] = texts;
  if (text === undefined) return interaction?.expired === true ? [] : [`${name}: it was never answered`];
  if (texts.length > 1) return [`${name}: it was answered ${texts.length} times: ${texts.join(' | ')}`];
  return RIGHT[kind].test(text) || REFUSED.test(text) ? [] : [`${name}: it was answered with "${text}"`];
}

function judgeTally(guildId: string, commands: readonly Asked[], before: number, now: number): readonly string[] {
  const told = commands
    .flatMap(({ answers }) => answers.flatMap(({ text }) => COUNTED.exec(text)?.[1] ?? []))
    .map(Number);
  const violations = told
    .filter((n) => n <= before || n > now)
    .map((n) => `${guildId}: ${n} was told, but ${before} was counted before, and ${now} is stored`);
  if (new Set(told).size < told.length) violations.push(`${guildId}: a number was told twice: ${told.join(', ')}`);
  if (now - before > commands.length)
    violations.push(`${guildId}: counted ${now - before} times for ${commands.length} commands`);
  return violations;
}

/** A confirmed word holds until the next change; an unconfirmed one may or may not hold. */
function judgeWords(guildId: string, asked: readonly Asked[], words: Known['words']): readonly string[] {
  const violations: string[] = [];
  let possible = words.get(guildId) ?? new Set(['none']);
  // A word is changed only after the answer to its previous change, so that changes are ordered.
  const changes = asked.filter(({ kind }) => kind === 'set');
  const apply = (before: ReadonlySet<string>, { word = '', answers }: Asked): ReadonlySet<string> =>
    CHANGED.test(answers[0]?.text ?? '') ? new Set([word]) : new Set([...before, word]);
  for (const { kind, id, at, answers } of asked) {
    const [answer] = answers;
    const told = kind === 'word' ? /^word (\w+)$/.exec(answer?.text ?? '')?.[1] : undefined;
    if (told === undefined || answer === undefined) continue;
    const before = changes.filter((one) => (one.answers[0]?.at ?? Number.POSITIVE_INFINITY) < at);
    const meanwhile = changes.filter((one) => !before.includes(one) && one.at <= answer.at);
    const may = new Set([...before.reduce(apply, possible), ...meanwhile.map(({ word = '' }) => word)]);
    if (!may.has(told)) violations.push(`${guildId}: word ${id}: "${told}" was told, not ${[...may].join(' or ')}`);
  }
  possible = changes.reduce(apply, possible);
  words.set(guildId, possible);
  return violations;
}
