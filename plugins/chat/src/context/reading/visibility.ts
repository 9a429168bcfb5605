import { isDotMessage, isNotice } from '@cinnabar/sdk';
import type { HistoryMessage } from '../../history/types.js';

const SHOW = '👁️‍🗨️';
const HIDE = '🫥';
const ASIDE = '🙃';
/** Discord leaves out the variation selectors at times. */
const plain = (emoji: string) => emoji.replaceAll('\uFE0F', '');
const [show, hide, aside] = [plain(SHOW), plain(HIDE), plain(ASIDE)];

const THINKING_ONLY = /^(?:\s*<(think|thinking)>(?:(?!<\/?\1>)[\s\S])*(?:<\/\1>|$))+\s*$/;

/**
 * Whether the model sees a message. In this order, the first that applies:
 * 0. `.config` and `.history` never are: they are for the program;
 * 1. what is asked now is seen;
 * 2. notices, what this program says about itself, are not, whichever bot of it sent them;
 * 3. own replies without a word, or with nothing but thoughts, are not: they teach the model to say nothing; nor are own cards
 *    and tool output made visible, which the calls themselves stand for;
 * 4. 👁️‍🗨️ under it or in it: seen;
 * 5. 🫥 or 🙃 under it or in it: not seen;
 * 6. members' messages that start with a dot are not.
 */
export function isVisible(message: HistoryMessage, questionId: string | null | undefined): boolean {
  if (isCommand(message.content)) return false;
  if (message.id === questionId) return true;
  if (isNotice(message) || message.author.ownWebhook === true) return false;
  if (message.card === true || (message.author.self && saysNothing(message))) return false;
  const signs = signsOf(message);
  if (signs.has(show)) return true;
  if (signs.has(hide) || signs.has(aside)) return false;
  return message.author.self || !isDotMessage(message.content);
}

const COMMAND = /^\.(?:config|history)(?![\w-])/i;

function isCommand(content: string): boolean {
  return isDotMessage(content) && COMMAND.test(content);
}

function saysNothing({ content, extras, attachments }: HistoryMessage): boolean {
  if (content.trim() === '') return extras.length === 0 && attachments.length === 0;
  return content.includes('<think') && THINKING_ONLY.test(content);
}

const NO_SIGNS: ReadonlySet<string> = new Set();
/** The first code point of each. */
const MAY_BE_SIGN = /[🙃🫥👁]/u;

function signsOf({ content, reactions }: HistoryMessage): ReadonlySet<string> {
  if (reactions.length === 0 && !MAY_BE_SIGN.test(content)) return NO_SIGNS;
  const text = plain(content);
  const inText = [show, hide, aside].filter((sign) => text.includes(sign));
  return new Set([...reactions.map(plain), ...inText]);
}
