import { plainText, visible } from '@cinnabar/sdk';
import { count, money } from './budgets.js';
import type { Receipt } from './receipt.js';

/** Why a reply was given, from what, and what it cost. */
export function whyText(receipt: Receipt): string {
  const { facts, tools, configured = [], notes = [] } = receipt;
  const safe = (text: string) => plainText(visible(text));
  return [
    `**Why I answered**: ${safe(receipt.trigger)} (asked by <@${receipt.userId}>, <t:${Math.floor(receipt.at / 1000)}:R>)`,
    `**Model**: ${safe(receipt.model)} by ${safe(receipt.provider)}, ${receipt.mode} mode, ${plural(receipt.calls, 'call')}`,
    `**Read**: ${read(facts)}`,
    `**Cache**: ${safe(facts.plan)}${receipt.missCause === undefined ? '' : `. Miss: ${safe(receipt.missCause)}`}`,
    `**Tokens**: ${tokens(receipt)}`,
    `**Cost**: ${receipt.cost === null ? 'the price of this model is not known' : money(receipt.cost)}`,
    ...(tools.length === 0
      ? []
      : [`**Tools**: ${tools.map(({ name, outcome }) => `${safe(name)} (${safe(outcome)})`).join(', ')}`]),
    ...(configured.length === 0 ? [] : [`**Configured**: ${configured.map(safe).join('; ')}`]),
    ...notes.map((note) => `**Note**: ${safe(note)}`),
  ].join('\n');
}

function read({ messages, hidden, images, estimatedTokens, rolled }: Receipt['facts']): string {
  return [
    plural(messages, 'message'),
    ...(images === 0 ? [] : [plural(images, 'image')]),
    `about ${count(estimatedTokens)} tokens`,
    ...(hidden === 0 ? [] : [`${hidden} not shown to me (dot messages, 🙃, 🫥, empty replies)`]),
    ...(rolled ? ['the oldest were cut off'] : []),
  ].join(', ');
}

function tokens({ usage }: Receipt): string {
  const { inputTokens, cacheCreationTokens, cacheCreation1hTokens, cacheReadTokens, outputTokens } = usage;
  const hour = cacheCreation1hTokens === 0 ? '' : ` (${count(cacheCreation1hTokens)} for an hour)`;
  return `${count(inputTokens)} fresh, ${count(cacheCreationTokens)} written${hour}, ${count(cacheReadTokens)} read, ${count(outputTokens)} output`;
}

/** The small line under an answer, where that is configured. */
export function receiptLine(receipt: Receipt): string {
  const price = receipt.cost === null ? 'price not known' : money(receipt.cost);
  return `-# ${tokens(receipt)} · ${price}`;
}

function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
