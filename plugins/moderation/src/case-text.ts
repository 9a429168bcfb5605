import {
  formatDuration,
  type ModerationAct,
  type ModerationCase,
  nameText,
  plainText,
  t,
  visible,
} from '@cinnabar/sdk';
import type { ActResult } from './acts.js';
import type { PostProblem } from './case-log.js';

/** "Warning", "Temporary ban": the name of an action. */
function actName(act: ModerationAct): string {
  switch (act) {
    case 'warn':
      return t('Warning');
    case 'timeout':
      return t('Time-out');
    case 'untimeout':
      return t('End of a time-out');
    case 'kick':
      return t('Kick');
    case 'ban':
      return t('Ban');
    case 'tempban':
      return t('Temporary ban');
    case 'softban':
      return t('Softban');
    case 'unban':
      return t('End of a ban');
  }
}

/** A moment as each reader's client shows it. */
const moment = (at: number, style: 'f' | 'R' | 'd' = 'f') => `<t:${Math.floor(at / 1_000)}:${style}>`;

/** A member's text for a message: displayed as plain text, with at most `longest` characters. */
function words(text: string, longest: number): string {
  let characters = [...visible(text)];
  let shown = plainText(characters.join(''));
  // Escaped markup is longer.
  while (shown.length > longest) {
    characters = characters.slice(0, Math.floor((characters.length * (longest - 1)) / shown.length));
    shown = `${plainText(characters.join(''))}…`;
  }
  return shown;
}

/** Together with the other lines of a case they fit in one message. */
const LONGEST = { name: 80, reason: 1_000, removed: 400, note: 200 } as const;

function memberText({ userId, userName }: ModerationCase): string {
  if (userId === undefined) return t('(deleted at their wish)');
  return userName === undefined
    ? `<@${userId}> (\`${userId}\`)`
    : `${words(userName, LONGEST.name)} · <@${userId}> (\`${userId}\`)`;
}

function moderatorText({ moderatorId, origin }: ModerationCase): string {
  if (moderatorId !== undefined) return `<@${moderatorId}>${origin === 'discord' ? ` ${t('(in Discord)')}` : ''}`;
  if (origin === 'rule') return t('a rule of this server');
  return t('not known');
}

/** The result of the action; `undefined` for an action that was done without exceptions. */
function stateText({ state, endedAt, removed, act }: ModerationCase): string | undefined {
  if (removed !== undefined) {
    const by = removed.byUserId === undefined ? '' : ` (<@${removed.byUserId}>)`;
    const why = removed.reason === undefined ? '' : `: ${words(removed.reason, LONGEST.removed)}`;
    return `${t('Taken back {when}', { when: moment(removed.at) })}${by}${why}`;
  }
  if (state === 'failed') return t('It was not carried out.');
  if (state === 'unclear') return t('It is not clear whether it was carried out. Please look, and do it again if not.');
  if (state === 'pending') return t('It is under way.');
  if (endedAt !== undefined && act === 'tempban') return t('Over since {when}', { when: moment(endedAt) });
  return undefined;
}

/** A complete case, for `!case` and for the case channel. */
export function caseText(one: ModerationCase): string {
  const { number, act, at, until, points, reason, because, note, editedBy } = one;
  const duration = until === undefined ? undefined : formatDuration(until - at);
  const state = stateText(one);
  return [
    t('**Case {number} · {act}** · {when}', { number, act: actName(act), when: moment(at) }),
    t('Member: {member}', { member: memberText(one) }),
    t('Moderator: {moderator}', { moderator: moderatorText(one) }),
    t('Reason: {reason}', { reason: reason === undefined ? t('none given') : words(reason, LONGEST.reason) }),
    ...(points === undefined ? [] : [t('Points: {points}', { points })]),
    ...(until === undefined || duration === undefined
      ? []
      : [t('Until: {when} ({duration})', { when: moment(until), duration })]),
    ...(because === undefined ? [] : [t('Because of the points of case {number}', { number: because })]),
    ...(state === undefined ? [] : [state]),
    ...(note === undefined ? [] : [words(note, LONGEST.note)]),
    ...(editedBy === undefined ? [] : [t('-# The reason was changed by {who}.', { who: `<@${editedBy}>` })]),
  ].join('\n');
}

const SHORT_REASON = 100;

/** A case in one line of a list. */
export function caseLine(one: ModerationCase): string {
  const { number, act, at, reason, points, state, removed } = one;
  const who = one.userId === undefined ? t('(deleted at their wish)') : `<@${one.userId}>`;
  const characters = [...visible(reason ?? '')];
  const short =
    characters.length > SHORT_REASON ? `${characters.slice(0, SHORT_REASON).join('')}…` : characters.join('');
  const facts = [
    ...(points === undefined ? [] : [t('{points, plural, one {# point} other {# points}}', { points })]),
    ...(removed === undefined ? [] : [t('taken back')]),
    ...(state === 'done' ? [] : [stateText(one) ?? '']),
    ...(short === '' ? [] : [plainText(short)]),
  ];
  return `**${number}** · ${actName(act)} · ${who} · ${moment(at, 'd')}${facts.length === 0 ? '' : ` · ${facts.join(' · ')}`}`;
}

/** The text of a direct message to a member. @param guildName of the guild in which it was done */
export function memberNotice({ act, reason, until, points }: ModerationCase, guildName: string): string {
  const guild = nameText(guildName);
  const head = () => {
    switch (act) {
      case 'warn':
        return t('You were warned in {guild}.', { guild });
      case 'timeout':
        return t('You are in time-out in {guild} until {when}: you can read, but neither write nor speak.', {
          guild,
          when: moment(until ?? 0),
        });
      case 'kick':
        return t('You were removed from {guild}. You can join again.', { guild });
      case 'softban':
        return t('You were removed from {guild}, and your latest messages with you. You can join again.', { guild });
      case 'tempban':
        return t('You were banned from {guild} until {when}.', { guild, when: moment(until ?? 0) });
      default:
        return t('You were banned from {guild}.', { guild });
    }
  };
  return [
    head(),
    ...(reason === undefined ? [] : [t('Reason: {reason}', { reason: words(reason, LONGEST.reason) })]),
    ...(points === undefined ? [] : [t('Points: {points}', { points })]),
  ].join('\n');
}

/** The text about a completed action: for the moderator, and for a model. */
export function actText(result: ActResult): string {
  const { done, told, postProblem, points, followed } = result;
  return [
    doneText(done),
    ...(points === undefined
      ? []
      : [t('Their warnings have {points, plural, one {# point} other {# points}} now.', { points })]),
    ...(told === false ? [t('I could not tell them: they take no direct messages from me.')] : []),
    ...(followed === undefined ? [] : [followedText(followed)]),
    ...(postProblem === undefined ? [] : [problemText(postProblem)]),
  ].join('\n');
}

function followedText(followed: ActResult | string): string {
  if (typeof followed !== 'string') return actText(followed);
  return t('The rule for these points could not be carried out: {problem}', { problem: followed });
}

function problemText(problem: PostProblem): string {
  switch (problem) {
    case 'gone':
      return t('The channel for cases is gone. Choose another with `set moderation modlog`.');
    case 'refused':
      return t('I may not post in the channel for cases. Let me see it and send messages there.');
    case 'later':
      return t('Discord did not accept the post in the channel for cases just now; it is posted when I start next.');
  }
}

function doneText(done: ModerationCase): string {
  const { act, number, userName = '', userId = '', at, until = at } = done;
  const who = userName === '' ? `<@${userId}>` : nameText(userName);
  const [when, duration] = [moment(until), formatDuration(until - at)];
  switch (act) {
    case 'warn':
      return t('✓ {who} was warned (case {number}).', { who, number });
    case 'timeout':
      return t('✓ {who} is in time-out for {duration}, until {when} (case {number}).', { who, duration, when, number });
    case 'untimeout':
      return t('✓ The time-out of {who} has ended (case {number}).', { who, number });
    case 'kick':
      return t('✓ {who} was removed from the server (case {number}).', { who, number });
    case 'ban':
      return t('✓ {who} is banned (case {number}).', { who, number });
    case 'tempban':
      return t('✓ {who} is banned for {duration}, until {when} (case {number}).', { who, duration, when, number });
    case 'softban':
      return t('✓ {who} was removed with their latest messages, and can join again (case {number}).', { who, number });
    case 'unban':
      return t('✓ {who} is not banned any more (case {number}).', { who, number });
  }
}
