import type { Asked } from './traffic.js';

/** What members read when the bot cannot say whether something was done, or has done nothing. */
const REFUSED = /interrupted|cannot (?:save|read)|stopped or restarted|went wrong|try again/i;

export const isAnswered = ({ kind, answers }: Asked): boolean => kind === 'mark' || answers.length > 0;

/**
 * Holds what people have read against what they have asked.
 * @param last what each server had counted to before, by its id; is brought up to date
 * @param stored what is stored for each server now
 */
export function judge(
  asked: readonly Asked[],
  last: Map<string, number>,
  stored: ReadonlyMap<string, number>,
): readonly string[] {
  const guilds = new Set(asked.map(guildOf));
  return [
    ...asked.flatMap(judgeAnswers),
    ...[...guilds].flatMap((guildId) => {
      const commands = asked.filter((one) => one.kind === 'tally' && guildOf(one) === guildId);
      const before = last.get(guildId) ?? 0;
      const now = stored.get(guildId) ?? 0;
      last.set(guildId, now);
      return judgeTally(guildId, commands, before, now);
    }),
  ];
}

const guildOf = ({ message }: Asked) => message.channel.guild?.id ?? '';

function judgeAnswers({ kind, message, answers }: Asked): readonly string[] {
  const name = `${kind} ${message.id} in ${message.channel.guild?.name}`;
  const texts = answers.map(({ text }) => text);
  if (kind === 'mark') return texts.length > 1 ? [`${name}: an effect was there ${texts.length} times`] : [];
  const [text] = texts;
  if (text === undefined) return [`${name}: it was never answered`];
  if (texts.length > 1) return [`${name}: it was answered ${texts.length} times: ${texts.join(' | ')}`];
  const isRight = /^(?:tally \d+|repeated)$/.test(text) || REFUSED.test(text);
  return isRight ? [] : [`${name}: it was answered with "${text}"`];
}

function judgeTally(guildId: string, commands: readonly Asked[], before: number, now: number): readonly string[] {
  const told = commands
    .flatMap(({ answers }) => answers.flatMap(({ text }) => /^tally (\d+)$/.exec(text)?.[1] ?? []))
    .map(Number);
  const violations = told
    .filter((n) => n <= before || n > now)
    .map((n) => `${guildId}: ${n} was told, but ${before} was counted before, and ${now} is stored`);
  if (new Set(told).size < told.length) violations.push(`${guildId}: a number was told twice: ${told.join(', ')}`);
  if (now - before > commands.length)
    violations.push(`${guildId}: counted ${now - before} times for ${commands.length} commands`);
  return violations;
}
