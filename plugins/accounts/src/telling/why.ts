import { formatUsd, type MessageOrigin, plainText, type Receipt, usageText, visible } from '@cinnabar/sdk';

/** Why something was done, from what, and what it cost. */
export function whyText(receipt: Receipt): string {
  const { actor, tools, configured = [], notes = [] } = receipt;
  const heading = receipt.messageIds.length === 0 ? 'Why I was at work, without a word' : 'Why I answered';
  const model = [
    `${safe(receipt.model)} by ${safe(receipt.provider)}`,
    ...(receipt.mode === undefined ? [] : [`${receipt.mode} mode`]),
    `${receipt.calls} ${receipt.calls === 1 ? 'call' : 'calls'}`,
  ];
  return [
    `**${heading}**: ${safe(receipt.trigger)} (asked by <@${actor.userId}>, <t:${Math.floor(receipt.at / 1000)}:R>)`,
    `**Mind**: ${safe(receipt.mind)}`,
    `**Model**: ${model.join(', ')}`,
    ...receipt.details.map(detail),
    ...(receipt.missCause === undefined ? [] : [`**Cache miss**: ${safe(receipt.missCause)}`]),
    `**Tokens**: ${usageText(receipt.usage)}`,
    `**Cost**: ${receipt.cost === null ? 'the price of this model is not known' : formatUsd(receipt.cost)}`,
    ...(tools.length === 0
      ? []
      : [`**Tools**: ${tools.map(({ name, outcome }) => `${safe(name)} (${safe(outcome)})`).join(', ')}`]),
    ...(configured.length === 0 ? [] : [`**Configured**: ${configured.map(safe).join('; ')}`]),
    ...notes.map((note) => `**Note**: ${safe(note)}`),
  ].join('\n');
}

/** Of a message of the bot that is not an answer of its own. */
export function originText(origin: MessageOrigin): string {
  if (origin.kind === 'card') {
    const state = origin.open ? 'and waits for their 👍 or 👎' : 'and it has been decided';
    return `This is a confirmation card: it asks <@${origin.userId}> ${state}.`;
  }
  const who = origin.userId === undefined ? 'a member who has had their data deleted' : `<@${origin.userId}>`;
  return `These are not my own words: I sent this for ${who}, who had me do so through a tool.`;
}

/** `Read: 42 messages` has a heading. */
function detail(text: string): string {
  const [, heading, rest] = /^(\p{L}[\p{L} ]{0,30}): (.+)$/su.exec(text) ?? [];
  return heading === undefined || rest === undefined ? `• ${safe(text)}` : `**${heading}**: ${safe(rest)}`;
}

function safe(text: string): string {
  return plainText(visible(text));
}
