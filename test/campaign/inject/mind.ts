import type { LocalGuild, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { say } from '@cinnabar/local-models';
import { z } from '@cinnabar/sdk';
import { cardV2, json } from '../../plugins/persona/cards.js';
import { type PlannedStep, plan, speak } from '../../plugins/persona/harness.js';
import { looksLikeNote, wordsOf } from './expected.js';
import type { Harness } from './harness.js';
import type { Talk } from './talk.js';
import { readRequest } from './transcript.js';

/** Creates a server in which a persona answers. */
export async function openMind(harness: Harness): Promise<LocalGuild> {
  const guild = await harness.openGuild('Minds');
  const channel = guild.createChannel({ name: 'general' });
  harness.host.you.say(channel, '!ai use persona');
  await harness.host.settled();
  return guild;
}

/**
 * Imports a hostile card, and lets people with hostile names write to the persona; it stores memories and goals from their messages, and uses a tool.
 * @returns differences between its requests and the messages
 */
export async function playMind({ harness, decks, dice, guild }: Talk): Promise<readonly string[]> {
  const { host } = harness;
  const channel = guild.createChannel({ name: 'general' });
  const mallory = harness.newcomer(guild, dice.chance(0.8) ? decks.draw('nickname').text : null);
  const name = decks.draw('persona name').text;
  const texts = {
    description: decks.draw('persona text').text,
    personality: decks.draw('persona text').text,
    system_prompt: decks.draw('persona text').text,
  };
  const file = { name: 'card.json', data: json(cardV2({ name, ...texts })), contentType: 'application/json' };
  host.you.say(channel, '!persona import', { files: [file] });
  await host.settled();
  // The answer to the import is not part of the conversation.
  const begun = channel.messages.length;
  const memory = decks.draw('memory').text;
  const goal = decks.draw('goal').text;
  const remembering: readonly PlannedStep[] = [
    { action: 'ADD_MEMORY', result: { text: memory, about: mallory.name } },
    { action: 'ADD_GOAL', result: { goal } },
    speak(decks.draw('text of the bot').text),
  ];
  const input = { shelf: decks.draw('arguments').text };
  harness.shelf = decks.draw('tool result').text;
  const using: PlannedStep = { action: 'USE_TOOL', result: { tool: 'look', arguments: input } };
  const problems: string[] = [];
  const hear = async (user: LocalUser, text: string, steps: readonly PlannedStep[], canExtend = false) => {
    let said: LocalMessage | undefined;
    const requests = await harness.during(
      () => {
        said = user.say(channel, `${host.bot} ${text}`);
      },
      plan(steps, { canExtend }),
      say('{"reasoning":"Enough.","actions":[],"can_extend":false}'),
    );
    if (requests.length === 0) problems.push('the persona was not asked');
    for (const { body } of requests) problems.push(...judge(body, channel.messages.slice(begun), host.bot, said));
  };
  host.bob.say(channel, 'good evening');
  mallory.say(channel, decks.draw('message').text);
  await hear(mallory, decks.draw('message').text, remembering);
  host.alice.say(channel, 'what now?');
  await hear(dice.pick([host.alice, mallory]), `and ${memory.slice(0, 200)}`, [using], true);
  return problems;
}

const NAMES = ['now', 'state', 'lore', 'memories', 'earlier', 'conversation', 'reflect-on', 'happened', 'done'];
const spoken = z.strictObject({ n: z.number(), when: z.string(), from: z.string(), said: z.string() });
const called = z.strictObject({ n: z.number(), when: z.string(), tool: z.string(), status: z.string() });
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  now: z.strictObject({ date: z.string(), time: z.string(), zone: z.string() }),
  state: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
  lore: z.string(),
  memories: z.strictObject({
    id: z.string(),
    about: z.string(),
    said_by: z.string(),
    on: z.string(),
    text: z.string(),
  }),
  earlier: z.string(),
  conversation: z.union([spoken, called]),
  'reflect-on': z.strictObject({ id: z.string(), text: z.string() }),
  happened: z.strictObject({ what: z.literal('somebody said something to me'), from: z.string(), said: z.string() }),
  done: z.strictObject({ action: z.string(), result: z.string() }),
};
/** The first two paragraphs of the prompt, with the name in quotes; the rest is the list of actions and tools. */
const SYSTEM = /^I am "[^"\n]*"\. I live in a Discord server among people [^"]*\n\n/u;
/** The host's question at the end, which does not depend on the messages. */
const QUESTION = /^(?:[A-Z][^\n"<>{}]{0,300})$/u;

function judge(
  body: unknown,
  messages: readonly LocalMessage[],
  bot: LocalUser,
  until: LocalMessage | undefined,
): readonly string[] {
  const { pieces, system } = readRequest(body, bot.name);
  const [only, ...more] = pieces;
  if (only?.kind !== 'spoken' || more.length > 0)
    return [`${pieces.length} pieces: ${JSON.stringify(pieces).slice(0, 300)}`];
  const { blocks, problems } = readBlocks(only.lines);
  const said = (blocks.get('conversation') ?? []).flatMap((line) => spoken.safeParse(line).data ?? []);
  return [
    ...problems,
    ...(SYSTEM.test(system) ? [] : [`the system prompt is ${JSON.stringify(system.slice(0, 300))}`]),
    ...(['Situation', 'Scene'].includes(only.label) ? [] : [`the situation is told by ${only.label}`]),
    ...conversationProblems(said, messages, bot, until),
  ];
}

function conversationProblems(
  said: readonly z.output<typeof spoken>[],
  messages: readonly LocalMessage[],
  bot: LocalUser,
  until: LocalMessage | undefined,
): readonly string[] {
  const truths = heardIn(messages, bot, until);
  const names = new Map<string, string>();
  const problems = said.length === truths.length ? [] : [`${said.length} lines instead of ${truths.length}`];
  for (const [index, line] of said.entries()) {
    const truth = truths[index];
    if (truth === undefined) break;
    const known = names.get(truth.speaker);
    if (known !== undefined && known !== line.from) problems.push(`one speaker is ${known} and ${line.from}`);
    names.set(truth.speaker, line.from);
    if (wordsOf(line.said) !== wordsOf(truth.text)) problems.push(`${line.from} says ${JSON.stringify(line.said)}`);
    if (truth.speaker !== bot.id && line.said.split('\n').some(looksLikeNote)) problems.push(`a note: ${line.said}`);
  }
  if (new Set([...names.values()].map((name) => name.toLowerCase())).size < names.size) {
    problems.push(`two are called the same: ${[...names.values()].join(', ')}`);
  }
  return problems;
}

/** The messages of people in the channel; consecutive messages of the bot count as one. */
function heardIn(messages: readonly LocalMessage[], bot: LocalUser, until: LocalMessage | undefined) {
  const truths: { readonly speaker: string; readonly text: string }[] = [];
  for (const { author, content, id } of messages) {
    truths.push({ speaker: author.id, text: content.replaceAll(String(bot), '') });
    if (id === until?.id) break;
  }
  return truths;
}

/**
 * Checks the prompt's "What stands inside the blocks is what I know, as JSON": one line per block, nothing else between the tags, and the question at the end.
 */
function readBlocks(lines: readonly string[]) {
  const blocks = new Map<string, unknown[]>();
  const problems: string[] = [];
  const after: string[] = [];
  let open: string | undefined;
  let last = -1;
  for (const line of lines) {
    const [, end, tag] = /^<(\/?)([a-z-]+)>$/u.exec(line) ?? [];
    if (open !== undefined && end === '/' && tag === open) open = undefined;
    else if (open !== undefined) blocks.get(open)?.push(...readLine(open, line, problems));
    else if (end === '' && tag !== undefined && NAMES.indexOf(tag) > last) {
      last = NAMES.indexOf(tag);
      open = tag;
      blocks.set(tag, []);
    } else if (line !== '') after.push(line);
  }
  if (open !== undefined) problems.push(`<${open}> has no end`);
  if (after.length !== 1 || !QUESTION.test((after[0] ?? '').replace('<done>', 'done')))
    problems.push(`asked is ${JSON.stringify(after)}`);
  return { blocks, problems };
}

function readLine(block: string, line: string, problems: string[]): readonly unknown[] {
  try {
    const read = SHAPES[block]?.safeParse(JSON.parse(line));
    if (read?.success === true) return [read.data];
  } catch {
    // The failed parse is reported below.
  }
  problems.push(`<${block}> holds ${JSON.stringify(line.slice(0, 300))}`);
  return [];
}
