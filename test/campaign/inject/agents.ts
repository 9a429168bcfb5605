import type { LocalChannel, LocalGuild, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import { type AgentBot, letIn, startAgentBot } from '../../plugins/relay/harness.js';
import type { Dice } from '../confirm/dice.js';
import type { Decks } from './decks.js';
import { looksLikeNote, wordsOf } from './expected.js';
import { readPrompt, type Said } from './prompt.js';

/** A server with an agent at a stand-in, which records its prompts. */
export interface Agents extends AsyncDisposable {
  /** Members with hostile names write to the agent. @returns differences between the prompts and the messages */
  play(decks: Decks, dice: Dice): Promise<readonly string[]>;
}

/** Minimum interval between prompts for one channel, and between turns of one member. */
const DISTANCE_MS = 61_000;

export async function openAgents(): Promise<Agents> {
  const bot = await startAgentBot({ script: (turn) => turn.say('Yes.') });
  await letIn(bot);
  await bot.admin('!relay grant everywhere aurora');
  await bot.admin('!relay config dayTurns 1000000');
  let people = 0;
  return {
    async play(decks, dice) {
      people += 1;
      const mallory = bot.discord.createUser({ name: `mallory${people}` });
      bot.guild.join(mallory, dice.chance(0.8) ? { nick: decks.draw('nickname').text } : {});
      const roles = [decks.draw('role').text, 'Reader'];
      for (const name of roles) bot.guild.giveRole(mallory, bot.guild.createRole({ name }));
      const channel = openPlace(bot, bot.guild, decks, dice);
      await bot.settled();
      const chain = talk(bot, channel, mallory, decks, dice);
      const before = bot.prompts.length;
      const asker = dice.pick([mallory, mallory, bot.alice]);
      const files = dice.chance(0.5) ? [{ name: decks.draw('file').text, data: Buffer.from('x') }] : [];
      const text = `${bot.bot} ${decks.draw('message').text}`;
      const last = chain.at(-1);
      const asked = asker.say(channel, text, { files, ...(last === undefined ? {} : { replyTo: last }) });
      await bot.quiet();
      await bot.advance(DISTANCE_MS);
      await bot.quiet();
      const told = bot.prompts.slice(before);
      const [prompt] = told;
      if (prompt === undefined || told.length > 1) return [`${told.length} prompts instead of 1`];
      return judge(prompt, [...chain, asked], asker === mallory ? roles.length : 0);
    },
    [Symbol.asyncDispose]: () => bot[Symbol.asyncDispose](),
  };
}

function openPlace(bot: AgentBot, guild: LocalGuild, decks: Decks, dice: Dice): LocalChannel {
  const channel = guild.createChannel({ name: decks.draw('channel').text });
  return dice.chance(0.5) ? channel : bot.alice.startThread(channel, decks.draw('thread').text);
}

/** Replies to replies, some of them edited. */
function talk(bot: AgentBot, channel: LocalChannel, mallory: LocalUser, decks: Decks, dice: Dice): LocalMessage[] {
  const chain: LocalMessage[] = [];
  for (let left = dice.between(0, 3); left > 0; left -= 1) {
    const speaker = dice.pick([mallory, bot.bob]);
    const last = chain.at(-1);
    const message = speaker.say(
      channel,
      decks.draw('reply').text,
      last === undefined ? {} : { replyTo: last, ping: false },
    );
    if (dice.chance(0.3)) speaker.edit(message, decks.draw('edit').text);
    chain.push(message);
  }
  return chain;
}

function judge(prompt: string, messages: readonly LocalMessage[], roles: number): readonly string[] {
  const { said, files, by, strays } = readPrompt(prompt);
  const asked = messages.at(-1);
  const problems = strays.map((line) => `a line of nobody's: ${JSON.stringify(line.slice(0, 200))}`);
  if (said.length !== messages.length) problems.push(`${said.length} messages instead of ${messages.length}`);
  if (files.length !== asked?.attachments.length) problems.push(`${files.length} files`);
  const found = by?.roles.filter((role) => role !== 'no roles').length;
  if (found !== roles) problems.push(`${found} roles instead of ${roles}: ${by?.roles.join(' | ')}`);
  const names = new Map<string, string>();
  for (const [index, one] of said.entries()) {
    const truth = messages[index];
    if (truth === undefined) break;
    problems.push(...compare(one, truth, truth === asked));
    const known = names.get(truth.author.id);
    if (known !== undefined && known !== one.name) problems.push(`one member is ${known} and ${one.name}`);
    names.set(truth.author.id, one.name);
  }
  if (new Set(names.values()).size < names.size) problems.push(`two have one name: ${[...names.values()].join(', ')}`);
  return problems;
}

function compare({ id, messageId, lines }: Said, truth: LocalMessage, isAsked: boolean): readonly string[] {
  const text = lines.join('\n').replace(/‹U\+[0-9A-F]+›/gu, '');
  const isTrue = isAsked || (id === truth.author.id && messageId === truth.id);
  // A prompt shows the first thousand characters of a message that others reply to.
  const said = wordsOf(text);
  const wanted = wordsOf(truth.content);
  return [
    ...(isTrue ? [] : [`message ${truth.id} of ${truth.author.id} is ${messageId} of ${id}`]),
    ...(said === wanted || (said.length > 700 && wanted.startsWith(said)) ? [] : [`it says ${JSON.stringify(text)}`]),
    ...lines.filter(looksLikeNote).map((line) => `a note: ${line}`),
  ];
}
