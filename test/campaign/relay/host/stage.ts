import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalMessage, startLocalDiscord } from '@cinnabar/local-discord';
import { type AddedAgent, startLettaStandIn } from '@cinnabar/local-letta';
import { freePort } from '../../../support/free-port.js';
import { testServer } from '../../../support/postgres.js';
import type { Chance } from '../../settings/chance.js';
import { createFastClock } from '../fast-clock.js';
import { createAgents } from './agents.js';
import type { Orders } from './child.js';
import { countCardFiles, countCardRows, readJournalFile, readJournalTable } from './journal.js';

/** The environment of the bot: a local Discord and a Letta server, in the process that is never killed. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

/** The clocks run twenty times as fast as real time. */
const TIMES = 20;

/** @param cluster whether each process is another machine of a cluster */
export async function openStage(chance: Chance, cluster = false) {
  const pace = { times: TIMES, since: Date.now() };
  const clock = createFastClock(pace);
  const root = await mkdtemp(join(tmpdir(), 'cinnabar-campaign-relay-host-'));
  const discord = await startLocalDiscord({ clock });
  discord.requests.enabled = false;
  const you = discord.createUser({ name: 'you' });
  const alice = discord.createUser({ name: 'alice' });
  const application = discord.createApplication({ name: 'Cinnabar', owner: you });
  const guild = discord.createGuild({ name: 'Night City', owner: you });
  guild.invite(application);
  guild.join(alice);
  const [general, maps, attic] = ['general', 'maps', 'attic'].map((name) => guild.createChannel({ name }));
  if (general === undefined || maps === undefined || attic === undefined) throw new Error('there are no channels');
  const channels = [general, maps, attic] as const;

  let onMoment: () => void = () => undefined;
  const agents = createAgents(chance, () => onMoment());
  const letta = await startLettaStandIn({ clock, script: agents.script });
  const added: AddedAgent[] = [];
  const stopObserving = discord.observe((event) => {
    if ((event.type === 'messageCreate' || event.type === 'messageEdit') && event.message.author.bot) onMoment();
  });
  const database = cluster ? await testServer() : undefined;
  const journal = join(root, 'data', 'relay', 'queue', 'queue.jsonl');
  const cards = join(root, 'data', 'documents', 'confirm', 'collections', 'global', 'cards');
  let lives = 0;
  const nextOrders = (): Orders => {
    lives += 1;
    const name = `machine-${lives}`;
    if (database === undefined) return orders;
    const { url, schema } = database;
    return { ...orders, dataDir: join(root, name), machine: { kind: 'cluster', url, schema, name } };
  };
  const orders: Orders = {
    machine: { kind: 'alone' },
    discordApi: discord.api,
    token: application.token,
    letta: letta.baseUrl,
    dataDir: join(root, 'data'),
    cacheDir: join(root, 'cache'),
    port: await freePort(),
    pace,
    admin: { userId: you.id, guildId: guild.id, channelId: general.id },
  };
  return {
    chance,
    letta,
    diary: agents.diary,
    you,
    alice,
    application,
    channels,
    nextOrders,
    readJournal: () => (database === undefined ? readJournalFile(journal) : readJournalTable(database)),
    countOpenCards: () => (database === undefined ? countCardFiles(cards) : countCardRows(database)),
    agents: () => added,
    addAgent(name: string) {
      const agent = letta.addAgent({ name, tools: agents.tools });
      added.push(agent);
      return agent;
    },
    /** All messages of the bot. */
    posted: (): readonly LocalMessage[] =>
      channels.flatMap(({ messages }) => messages.filter(({ author }) => author.id === application.user.id)),
    /** Calls back on each action of an agent and each message of the bot. */
    watch(listener: () => void) {
      onMoment = listener;
    },
    async [Symbol.asyncDispose]() {
      stopObserving();
      await letta[Symbol.asyncDispose]();
      await discord.close();
      await database?.[Symbol.asyncDispose]();
      await rm(root, { recursive: true, force: true });
    },
  };
}
