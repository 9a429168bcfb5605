import { formatDuration, type ModerationCase, nameText, t } from '@cinnabar/sdk';
import type { ActResult } from './acts.js';
import type { PostProblem } from './case-log.js';
import { moment } from './case-text.js';

/** What is said of an act that was done: to the moderator, and to a model. */
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
      return t('Discord did not take it for the channel for cases just now; it is posted when I start next.');
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
