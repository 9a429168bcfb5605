import type { LocalChannel, LocalGuild, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { callTools, say } from '@cinnabar/local-models';
import { visible } from '@cinnabar/sdk';
import type { Dice } from '../confirm/dice.js';
import type { Decks } from './decks.js';
import { differences, type Truth } from './expected.js';
import type { Harness } from './harness.js';
import { type ReadRequest, readRequest } from './transcript.js';

const BOT = 'Cinnabar';
/** The host's line below a result, which models do not receive. */
const FOR_WHOM = /\n-# for <@\d+>$/u;
/** Longest input of the modal. */
const LONGEST_REASON = 300;

/** An event after a message that has no message itself. */
interface Held {
  readonly after: LocalMessage;
  readonly truths: readonly Truth[];
}

export interface Talk {
  readonly harness: Harness;
  readonly decks: Decks;
  readonly dice: Dice;
  readonly guild: LocalGuild;
}

/**
 * People, bots and webhooks with hostile names write in a channel with a hostile name; the bot is asked five times, and calls two tools, one of them with a
 * card. Each request must contain exactly the real messages. @returns the differences
 */
export async function playTalk(talk: Talk, mode: 'chat' | 'prefill'): Promise<readonly string[]> {
  const { harness, decks, dice, guild } = talk;
  const { host } = harness;
  const channel = openPlace(talk, mode);
  const mallory = harness.newcomer(guild, dice.chance(0.8) ? decks.draw('nickname').text : null);
  const problems: string[] = [];
  const ask = async (asker: LocalUser, text: string, ...steps: Parameters<Harness['during']>[1][]) => {
    let question: LocalMessage | undefined;
    const requests = await harness.during(
      () => {
        question = asker.say(channel, `${host.bot} ${text}`);
      },
      ...steps,
    );
    return { requests, question };
  };
  const judge = (body: unknown, until: LocalMessage | undefined, ...more: readonly (Truth | Held)[]) => {
    const request = readRequest(body, BOT);
    if (request.mode !== mode) problems.push(`the request is in ${request.mode}`);
    problems.push(...differences(request, truthsOf(channel, host.bot, until, more)), ...sameForAll(harness, request));
  };

  await saySomething(talk, channel, mallory);
  const first = await ask(
    dice.pick([host.alice, mallory]),
    'well?',
    say(ownWords(decks.draw('text of the bot').text, mode)),
  );
  for (const { body } of first.requests) judge(body, first.question);
  if (first.requests.length !== 1) problems.push(`${first.requests.length} requests instead of 1`);

  await saySomething(talk, channel, mallory);
  const input = { shelf: decks.draw('arguments').text };
  harness.shelf = decks.draw('tool result').text;
  const second = await ask(host.alice, 'look!', calling('look', input, mode), say('I have looked.'));
  const [asked, told] = second.requests;
  if (asked === undefined || told === undefined) return [...problems, 'the tool was not called'];
  judge(asked.body, second.question);
  judge(
    told.body,
    second.question,
    { kind: 'call', tool: 'look', input },
    { kind: 'result', tool: 'look', text: harness.shelf },
  );

  // The text of a slash command is in no message: it is at the end of the request.
  const { text } = decks.draw('slash command');
  const until = channel.messages.at(-1);
  const third = await harness.during(() => mallory.slash(channel, 'ai', { text }), say('Yes.'));
  for (const { body } of third) judge(body, until, { kind: 'spoken', speaker: mallory.id, text, notes: [] });
  if (third.length !== 1) problems.push(`${third.length} requests instead of 1 for a slash command`);

  // A card is for people. The request contains the call and its outcome instead, after the question that led to it.
  const book = decks.draw('card').text;
  const fourth = await ask(host.alice, 'shelve!', calling('shelve', { book }, mode), say('I have asked.'));
  const card = channel.messages.findLast((message) => isCard(message, host.bot));
  if (card === undefined || fourth.question === undefined) return [...problems, 'there is no card'];
  harness.shelf = decks.draw('tool result').text;
  const outcome = await decide(talk, card, mode);
  const held = { after: fourth.question, truths: callWith('shelve', { book }, outcome) };
  const fifth = await ask(host.alice, 'and now?', say('Well.'));
  for (const { body } of fifth.requests) judge(body, fifth.question, held);
  return problems;
}

const callWith = (tool: string, input: unknown, text: string): readonly Truth[] => [
  { kind: 'call', tool, input },
  { kind: 'result', tool, text },
];

const isCard = ({ author, reactions }: LocalMessage, bot: LocalUser) => author.id === bot.id && reactions.length > 1;

/** The member approves, denies, or denies with a reason. @returns the outcome for the model */
async function decide({ harness, decks, dice }: Talk, card: LocalMessage, mode: 'chat' | 'prefill'): Promise<string> {
  const { alice, settled } = harness.host;
  // Without a place for it in the provider's format, the host adds a note.
  const failed = mode === 'prefill' ? '(failed) ' : '';
  const way = dice.pick(['approve', 'refuse', 'reason'] as const);
  const reason = decks.draw('refusal').text.trim().slice(0, LONGEST_REASON);
  if (way === 'reason') alice.submit(await alice.click(card, 'Deny with a reason…').answered(), { reason });
  else alice.react(card, way === 'approve' ? '👍' : '👎');
  await settled();
  if (way === 'approve') return `done: ${harness.shelf}`;
  const because =
    way === 'refuse'
      ? 'the member cancelled it with 👎, so it was not run'
      : `the member denied it, so it was not run. Their reason: “${visible(reason)}”`;
  return `${failed}Cancelled by the member: it did not run (${because}).`;
}

/** In prefill mode, text of the model in the form of a call is a call. */
const ownWords = (text: string, mode: 'chat' | 'prefill') => (mode === 'chat' ? text : text.replaceAll('>[', '> ['));

const calling = (tool: string, input: Readonly<Record<string, unknown>>, mode: 'chat' | 'prefill') =>
  mode === 'chat' ? callTools([{ name: tool, arguments: input }]) : say(`${BOT}>[${tool}]: ${JSON.stringify(input)}`);

/** Sends a message of a random kind. */
async function saySomething({ harness, decks, dice, guild }: Talk, channel: LocalChannel, mallory: LocalUser) {
  const { host } = harness;
  const somebody = () => dice.pick([mallory, mallory, host.bob]);
  const acts: readonly (() => unknown)[] = [
    () => host.bob.say(channel, 'good evening'),
    () => mallory.say(channel, around(decks.draw('message').text, dice)),
    () => {
      const target = dice.pick([channel.messages[0], ...channel.messages]);
      somebody().say(channel, around(decks.draw('reply').text, dice), target === undefined ? {} : { replyTo: target });
    },
    () => {
      const message = somebody().say(channel, 'before');
      message.author.user?.edit(message, around(decks.draw('edit').text, dice));
    },
    () => {
      const names = Array.from({ length: dice.between(1, 2) }, () => decks.draw('file').text);
      const files = names.map((name) => ({
        name,
        data: Buffer.from(decks.draw('file text').text),
        contentType: 'text/plain',
      }));
      somebody().say(channel, dice.pick(['', 'see these']), { files });
    },
    () => harness.post(channel, { embeds: [{ title: 'News', description: decks.draw('embed').text }] }),
    () => harness.post(channel, { content: 'by a hook', username: decks.draw('webhook').text }),
    () => mallory.say(channel, `is ${guild.createRole({ name: decks.draw('role').text })} here?`),
    () => mallory.say(channel, `have you seen ${host.bob}?`),
  ];
  for (const act of acts.map((act) => ({ act, at: dice.next() })).sort((a, b) => a.at - b.at)) {
    if (act.at < 0.6) await act.act();
  }
  await host.settled();
}

function around(text: string, dice: Dice): string {
  return dice.pick([text, `so\n${text}`, `${text}\nthat is all`, `so\n${text}\nthat is all`, `so ${text}`]);
}

/** A channel, or a thread in one. */
function openPlace({ harness, decks, dice, guild }: Talk, mode: 'chat' | 'prefill'): LocalChannel {
  const { host } = harness;
  const name = dice.chance(0.7) ? decks.draw('channel').text : 'general';
  const channel = guild.createChannel({ name, topic: decks.draw('topic').text });
  if (mode === 'prefill') host.you.pin(host.you.say(channel, '.config\nmode: prefill'));
  return dice.chance(0.5) ? channel : host.alice.startThread(channel, decks.draw('thread').text);
}

/** The messages that a reader of the channel knows up to a message, and the events that no message contains: after one of them, or at the end. */
function truthsOf(
  channel: LocalChannel,
  bot: LocalUser,
  until: LocalMessage | undefined,
  more: readonly (Truth | Held)[],
): readonly Truth[] {
  const inherited = channel.parent === undefined || !channel.isThread ? [] : channel.parent.messages;
  const shown = [...inherited, ...channel.messages].filter(
    (message) => !message.content.startsWith('.') && !isCard(message, bot),
  );
  const truths: Truth[] = [];
  let previous: LocalMessage | undefined;
  for (const message of shown) {
    const { author } = message;
    if (author.id === bot.id) truths.push({ kind: 'own', text: message.content.replace(FOR_WHOM, '') });
    else {
      const speaker = message.webhookId === undefined ? author.id : `${author.id}/${author.username}`;
      truths.push({ kind: 'spoken', speaker, ...told(message, previous, bot) });
    }
    for (const one of more) if ('after' in one && one.after === message) truths.push(...one.truths);
    previous = message;
    if (message === until) break;
  }
  return [...truths, ...more.flatMap((one) => ('after' in one ? [] : one))];
}

const PINNED = 6;

/** The content of a message for the model, and the host's notes. */
function told(message: LocalMessage, previous: LocalMessage | undefined, bot: LocalUser) {
  const { attachments, embeds, replyTo, type, content } = message;
  if (type === PINNED) return { text: '', notes: ['[pinned a message]'] };
  const said = content.replace(String(bot), `@${BOT}`);
  const [start = '', ...mentions] = said.split(/<@&?\d+>/u);
  const files = attachments.map(({ data }) => Buffer.from(data).toString('utf8'));
  const notes = [
    ...attachments.flatMap(({ data }) =>
      Buffer.from(data).includes(0) ? ['[attachment: '] : ['[attachment: ', '[end of the attachment]'],
    ),
    ...embeds.map(() => '[embed: '),
    ...(replyTo === undefined || replyTo === previous ? [] : ['[in reply to ']),
  ];
  return { text: [start, ...files].join('\n'), open: mentions.length > 0, notes, around: files.length > 0 };
}

/** Checks that the system prompt, apart from the quoted names of the place, and the tools are equal in all requests. */
function sameForAll({ common }: Harness, { mode, system, tools }: ReadRequest): readonly string[] {
  const [about = '', ...rest] = system.split('\n\n');
  const found = {
    [`system prompt in ${mode}`]: [about.replace(/"[^"]*"/gu, '""'), ...rest].join('\n\n'),
    tools: tools.join(', '),
  };
  return Object.entries(found).flatMap(([what, text]) => {
    const known = common.get(what) ?? text;
    common.set(what, known);
    return text === known ? [] : [`the ${what} is ${JSON.stringify(text.slice(0, 400))}`];
  });
}
