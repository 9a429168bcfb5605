import type { LocalChannel, LocalMessage, LocalUser } from '@cinnabar/local-discord';
import type { LlmRequest } from '@cinnabar/sdk';
import { MessageFlags } from 'discord.js';
import type { Chronicle } from './chronicle.js';
import type { TrustHarness } from './harness.js';
import { type Leak, markersIn, textOf } from './oracle.js';

/** Checks every request to a model and every message of the bot with the oracle. */
export interface Watch {
  readonly violations: readonly string[];
  /** Sets the possible readers of the next answers, each set one possibility, and the place of the question. */
  answering(possible: readonly (readonly LocalUser[])[], where: LocalChannel | undefined): void;
  /** These members are answered together by a responder that supports batches. */
  together(users: readonly LocalUser[]): void;
  /** A question in a message. */
  asks(user: LocalUser, channel: LocalChannel, message: LocalMessage): void;
  /** A text that only one user receives. */
  read(text: string, user: LocalUser, where: string): void;
  /** A user has chosen on a card that the result is posted in this channel. */
  choosesHere(user: LocalUser | undefined, channel: LocalChannel | undefined): void;
  openCards(): readonly { readonly card: LocalMessage; readonly requester: LocalUser }[];
  decided(card: LocalMessage): void;
  /** The members whose questions may not be answered yet, each separately. */
  waiting(): readonly (readonly LocalUser[])[];
}

const CARD = 'Confirmation Required';
const TASK_OF = /My task for you: [^"]*?(mk[0-9a-z]{6}q)/;

export function createWatch(
  harness: TrustHarness,
  chronicle: Chronicle,
  count: (what: string, by?: number) => void,
): Watch {
  const { host, oracle, mind, people } = harness;
  const violations: string[] = [];
  const known = new Set<string>();
  const askers = new Map<string, LocalUser>();
  const before = new WeakMap<LocalMessage, ReadonlySet<string>>();
  const cards = new Map<LocalMessage, LocalUser>();
  const recent = new Set<LocalUser>();
  let possible: readonly (readonly LocalUser[])[] = [];
  let where: LocalChannel | undefined;
  let batch: readonly LocalUser[] = [];
  let here: { readonly user: LocalUser; readonly channel: LocalChannel } | undefined;

  const report = ({ marker, where: surface, reader }: Leak, at?: LocalChannel) => {
    const key = `${marker} ${surface}`;
    if (known.has(key)) return;
    known.add(key);
    const { channel, text } = oracle.originOf(marker);
    const concerned = [channel, channel?.parent, at, at?.parent].flatMap((place) => place?.id ?? []);
    const about = [reader.id, ...concerned];
    const from = channel === undefined ? text : `"${text}" of #${channel.name || 'a direct message'}`;
    violations.push(
      [
        `${reader.username} gets ${marker}, ${from}, in a ${surface}`,
        ...chronicle.of(marker, about),
        ...chronicle.latest(),
      ].join('\n    '),
    );
  };
  const tally = (surface: string, markers: readonly string[], at: LocalChannel | undefined) => {
    for (const marker of markers) {
      const { channel } = oracle.originOf(marker);
      count(`read in ${surface}, ${channel !== undefined && channel === at ? 'of the same place' : 'of elsewhere'}`);
    }
  };

  mind.onRequest = (text, request) => {
    const kind = kindOf(request);
    count(`requests of ${kind}`);
    const prompt = TASK_OF.exec(text)?.[1];
    const owner = kind === 'tasks' && prompt !== undefined ? askers.get(prompt) : undefined;
    const sets = owner === undefined ? (kind === 'chat' && batch.length > 0 ? [batch] : possible) : [[owner]];
    // A task keeps its goal after its message is deleted.
    const judged = prompt === undefined ? text : text.replaceAll(prompt, '');
    const surface = `request of ${kind}`;
    const found = sets.map((users) => oracle.leaksIn(judged, users, surface, { channel: where }));
    const best = found.toSorted((a, b) => a.length - b.length)[0] ?? [];
    for (const leak of best) report({ ...leak, where: `${surface}: ${excerpt(judged, leak.marker)}` }, where);
    tally(surface, markersIn(judged), where);
  };

  mind.onAgent = (text, agent, tool) => {
    if (tool === undefined) {
      count('prompts of agents');
      const found = possible.map((users) => oracle.leaksIn(text, users, 'prompt of an agent', { channel: where }));
      const best = found.toSorted((a, b) => a.length - b.length)[0] ?? [];
      for (const leak of best) report({ ...leak, where: `prompt of ${agent}: ${excerpt(text, leak.marker)}` }, where);
      tally('prompt of an agent', markersIn(text), where);
      return;
    }
    // In direct messages the agent has the rights of the other participant.
    const readers = agent === 'aurora' ? [harness.keeper] : (possible[0] ?? []);
    const surface = `result of ${tool} for an agent`;
    for (const leak of oracle.leaksIn(text, readers, surface))
      report({ ...leak, where: `${surface}: ${excerpt(text, leak.marker)}` }, where);
    tally(surface, markersIn(text), undefined);
  };

  /** The bot names a thread after its subject, which everyone who sees the thread can read. */
  const judgeTitle = (thread: LocalChannel) => {
    if (thread.thread?.owner.id !== host.bot.id) return;
    const viewers = people.filter((user) => oracle.sees(user, thread));
    const at = { channel: where, thread };
    for (const leak of oracle.leaksIn(thread.name, viewers, "thread's name", at)) report(leak, thread);
    tally("thread's name", markersIn(thread.name), where);
  };

  host.discord.observe((event) => {
    if (event.type === 'channelCreate') judgeTitle(event.channel);
  });
  host.discord.observe((event) => {
    if (event.type !== 'messageCreate' && event.type !== 'messageEdit') return;
    const { message } = event;
    const isOfBot = message.author.id === host.bot.id || message.applicationId === host.bot.id;
    if (!isOfBot || (message.flags & MessageFlags.Loading) !== 0) return;
    const text = textOf(message);
    const old = before.get(message);
    const fresh = markersIn(text).filter((marker) => old?.has(marker) !== true);
    before.set(message, new Set([...(old ?? []), ...fresh]));
    noteCard(message);
    if (fresh.length === 0) return;
    const surface = surfaceOf(message);
    const viewers = here !== undefined && message.channel === here.channel ? [here.user] : oracle.viewersOf(message);
    const place = `${surface} in #${message.channel.name || 'a direct message'}`;
    for (const leak of oracle.leaksIn(fresh.join(' '), viewers, surface, { channel: message.channel, message })) {
      if (!isGranted(leak, viewers))
        report({ ...leak, where: `${place}: ${excerpt(text, leak.marker)}` }, message.channel);
    }
    tally(surface, fresh, message.channel);
  });

  /** All members may read their own words. */
  const isGranted = ({ marker, reader }: Leak, viewers: readonly LocalUser[]) =>
    viewers.length === 1 && oracle.originOf(marker).author === reader.id;

  /** A card is for its requester: the latest one to ask, or the user whom it mentions or answers. */
  const noteCard = (message: LocalMessage) => {
    if (!message.content.includes(CARD)) return;
    if (cards.has(message)) return;
    const [mentioned] = message.mentions.users.filter(({ bot }) => !bot);
    const requester = mentioned ?? message.replyTo?.author.user ?? message.visibleTo ?? possible[0]?.at(-1);
    if (requester === undefined) return;
    cards.set(message, requester);
    recent.add(requester);
  };

  return {
    violations,
    answering(next, at) {
      possible = next;
      mind.asked = [];
      where = at;
      if (next.length === 1) for (const user of next[0] ?? []) recent.add(user);
    },
    together(users) {
      batch = users;
    },
    asks(user, _channel, message) {
      const asked = markersIn(message.content);
      mind.asked = [...mind.asked, ...asked];
      for (const marker of asked) askers.set(marker, user);
      chronicle.note(`${user.username} asks "${message.content}" in #${message.channel.name || 'a direct message'}`, [
        user,
        message.channel,
      ]);
    },
    read(text, user, surface) {
      for (const leak of oracle.leaksIn(text, [user], surface))
        report({ ...leak, where: `${surface}: ${excerpt(text, leak.marker)}` });
      tally(surface, markersIn(text), undefined);
    },
    choosesHere(user, channel) {
      here = user === undefined || channel === undefined ? undefined : { user, channel };
    },
    openCards: () =>
      [...cards]
        .filter(([card]) => !card.deleted && !card.channel.deleted)
        .map(([card, requester]) => ({ card, requester })),
    decided: (card) => void cards.delete(card),
    waiting: () => people.map((user) => [user]),
  };
}

function kindOf({ output, tools = [] }: LlmRequest): 'chat' | 'persona' | 'tasks' {
  if (output !== undefined) return 'persona';
  return tools.some(({ name }) => name === 'task_complete') ? 'tasks' : 'chat';
}

function surfaceOf({ visibleTo, channel, attachments }: LocalMessage): string {
  const file = attachments.length > 0 ? ' with a file' : '';
  if (visibleTo !== undefined) return `ephemeral reply${file}`;
  return `${channel.guild === undefined ? 'direct message' : 'post'}${file}`;
}

function excerpt(text: string, marker: string): string {
  const at = text.indexOf(marker);
  return JSON.stringify(text.slice(Math.max(0, at - 160), at + 40));
}
