import {
  type CommandContext,
  createKeyedMutex,
  type McpEndpoint,
  plainText,
  type Subcommand,
  sentenceOf,
  subcommand,
  t,
  visible,
} from '@cinnabar/sdk';
import type { Channel } from 'discord.js';
import { directGrant, grantOf, guildIdentity, isLetInto, PLUGIN, saveGrant } from '../agents/permissions.js';
import type { Relay } from '../context.js';
import { isOlder, isPrivateAddress, REFUSES_PRIVATE_SINCE, TRIED } from '../letta/client.js';
import { troubleOf } from '../letta/errors.js';
import { ADMIN, agentNamed, agentOption, guildOf, othersWith, whileListing } from './options.js';

/** The command `!relay setup`: gives an agent the bot's tools, and tests whether it can post. */
export function setupCommand(relay: Relay): Subcommand {
  return subcommand({
    name: 'setup',
    description: 'Give an agent its tools at the Letta server, and try whether it can post here',
    help: 'Each step is reported. What it had as a bearer before is void.',
    access: ADMIN,
    options: { agent: agentOption(relay.rosters) },
    async run(ctx, { agent: name }) {
      const guildId = guildOf(ctx);
      const { key, agent } = agentNamed(relay.rosters.of(guildId), name);
      const identity = guildIdentity(guildId, key);
      return report(relay, ctx, {
        guildId,
        userId: ctx.user.id,
        key,
        name: agent.name,
        agentId: agent.agentId,
        identity,
      });
    },
  });
}

/** Agents are set up one after another, because they share one registration at the Letta server. */
const settingUp = createKeyedMutex();

/** Runs the steps, and replies with the result of each. */
export async function report(relay: Relay, ctx: CommandContext, place: Place): Promise<unknown> {
  await ctx.defer();
  const lines: string[] = [];
  await settingUp.run('', async () => {
    for await (const step of setUp(relay, place, ctx.channel, ctx.signal)) lines.push(lineOf(step));
  });
  return ctx.reply(lines.join('\n'));
}

function lineOf({ ok, text, todo }: Step): string {
  return `${ok ? '✓' : '✗'} ${plainText(visible(text))}${todo === undefined ? '' : ` ${todo}`}`;
}

/** An agent in its home. */
interface Place {
  /** `null`: in direct messages. */
  readonly guildId: string | null;
  /** The user who sets the agent up. */
  readonly userId: string;
  readonly key: string;
  readonly name: string;
  readonly agentId: string;
  readonly identity: string;
}

interface Step {
  readonly ok: boolean;
  /** The result as plain text. */
  readonly text: string;
  /** What to do about it, in Markdown. */
  readonly todo?: string;
}

/** Runs the steps in order. Stops after a failed step that the others need. */
async function* setUp(relay: Relay, place: Place, channel: Channel, signal: AbortSignal): AsyncGenerator<Step> {
  if (place.guildId !== null) yield switchedOn(relay, place.guildId);
  yield await answersHere(relay, place, channel);
  const found = await findAgent(relay, place);
  yield found;
  if (!found.ok) return;
  const { endpoint } = relay;
  const url = endpoint?.url === undefined ? undefined : ((await relay.settings.global.get()).mcpUrl ?? endpoint.url);
  if (endpoint === undefined || url === undefined) {
    yield {
      ok: false,
      text: t('The tools are not offered over MCP.'),
      todo: t('The owner of the bot switches that on: `set mcp listen 8808`, then `plugin reload mcp`.'),
    };
    return;
  }
  yield { ok: true, text: t('The tools are offered at {url}.', { url }) };
  const version = await serverVersion(relay, url);
  if (version !== undefined) yield version;
  if (place.guildId === null)
    await saveGrant(relay.identities, place.identity, place.name, directGrant(place.userId, channel.id));
  const access = await mayWriteHere(relay, place, channel);
  yield access;
  const connected = await connect(relay, endpoint, url, place, channel.id);
  yield connected;
  const dropped = await othersOf(relay, place, connected.dropped ?? []);
  if (dropped !== undefined) yield dropped;
  if (!connected.ok || !access.ok) return;
  yield await testConnection(relay, place, channel.id, signal);
}

function switchedOn({ rosters }: Relay, guildId: string): Step {
  const ok = rosters.enabled(guildId) !== undefined;
  return ok
    ? { ok, text: t('The agents of this server are switched on.') }
    : { ok, text: t('The agents of this server are switched off.'), todo: t('Use `relay enable`.') };
}

async function answersHere({ frontDoor }: Relay, { guildId }: Place, { id }: Channel): Promise<Step> {
  const responder = (await frontDoor?.responderIn(guildId, id)) ?? 'nobody';
  if (responder === PLUGIN) return { ok: true, text: t('What is said to me here goes to the agent.') };
  const todo = t('Use `ai use relay`, or `ai use relay --here` for this channel alone.');
  return { ok: false, text: t('What is said to me here goes to {responder}.', { responder }), todo };
}

async function findAgent({ letta }: Relay, { agentId }: Place): Promise<Step> {
  try {
    const info = await (await letta.agents()).find(agentId);
    if (info !== undefined)
      return { ok: true, text: t('The Letta server knows the agent: {infoName}.', { infoName: info.name }) };
    return {
      ok: false,
      text: t('The Letta server knows no agent {agentId}.', { agentId }),
      todo: t('Compare the id with the one that the server shows.'),
    };
  } catch (error) {
    return {
      ok: false,
      text: sentenceFor(error),
      todo: t('The owner of the bot compares the address (`set relay baseUrl`) and the key of the Letta server.'),
    };
  }
}

/** The server's version and its known limits, before anything is registered. `undefined` when the server reports no version. */
async function serverVersion({ letta }: Relay, url: string): Promise<Step | undefined> {
  const version = await (await letta.agents()).version().catch(() => undefined);
  if (version === undefined) return undefined;
  const notes: string[] = [];
  if (isOlder(version, TRIED)) {
    notes.push(
      t(
        'I was tried with {tried}. An older server may lack what I need: conversations, background runs, headers for tools. If something below fails, update it.',
        { tried: TRIED },
      ),
    );
  }
  if (!isOlder(version, REFUSES_PRIVATE_SINCE) && isPrivateAddress(url)) {
    notes.push(
      t(
        'From {refusesPrivateSince} on it refuses tools at addresses of a private network, and the one above is such an address. If the tools are refused below, the owner of the bot sets a public one: `set relay mcpUrl https://…`.',
        { refusesPrivateSince: REFUSES_PRIVATE_SINCE },
      ),
    );
  }
  return {
    ok: true,
    text: t('The Letta server is version {version}.', { version }),
    ...(notes.length === 0 ? {} : { todo: notes.join(' ') }),
  };
}

async function mayWriteHere(
  { identities }: Relay,
  { identity, guildId, name }: Place,
  channel: Channel,
): Promise<Step> {
  const channels = (await grantOf(identities, identity, guildId))?.channels ?? [];
  if (isLetInto(channels, channel)) return { ok: true, text: t('It has been let into this channel.') };
  return {
    ok: false,
    text: t('It has not been let into this channel.'),
    todo: t('Use `relay grant channel` <#{channelId}> `{name}`, or set it up where it may write.', {
      channelId: channel.id,
      name,
    }),
  };
}

interface Connected extends Step {
  /** Tools that the server has removed from all agents. */
  readonly dropped?: readonly string[];
}

async function connect(
  relay: Relay,
  endpoint: McpEndpoint,
  url: string,
  place: Place,
  channelId: string,
): Promise<Connected> {
  const { letta, identities, tools, client } = relay;
  const { agentId, identity, guildId, userId } = place;
  try {
    const granted = (await grantOf(identities, identity, guildId))?.tools ?? {};
    const offered = new Set(tools.list().flatMap(({ name }) => (Object.hasOwn(granted, name) ? [name] : [])));
    const { bearer } = await endpoint.issue(identity);
    const agents = await letta.agents();
    const host = { agentId, serverName: `cinnabar-${client.user?.id ?? ''}`, url, bearer, offered };
    const { attached, missing, dropped } = await whileListing(
      relay,
      endpoint,
      { guildId, userId, channelId },
      (lister) => agents.register({ ...host, lister }),
    );
    if (missing.length > 0)
      return {
        ok: false,
        text: t('The Letta server does not see these tools: {tools}.', { tools: missing.join(', ') }),
        todo: reach(),
        dropped,
      };
    return {
      ok: true,
      text: t('It has {count} tools: {tools}.', { count: attached.length, tools: attached.join(', ') }),
      dropped,
    };
  } catch (error) {
    return {
      ok: false,
      text: t('It could not be given its tools. {reason}', { reason: sentenceFor(error) }),
      todo: reach(),
    };
  }
}

/** What went wrong at the Letta server, for people. */
function sentenceFor(error: unknown): string {
  return sentenceOf(error) ?? troubleOf(error).sentence;
}

/**
 * Reports which other agents have lost a tool: the server keeps one list for all agents, and a tool that it removes from the list is removed from all of them.
 */
async function othersOf(relay: Relay, place: Place, dropped: readonly string[]): Promise<Step | undefined> {
  if (dropped.length === 0) return undefined;
  const { here, elsewhere } = await othersWith(dropped, relay, place);
  if (here.length === 0 && !elsewhere) return undefined;
  const again = here.map((name) => `\`relay setup ${name}\``).join(', ');
  return {
    ok: false,
    text: t('The Letta server does not see these tools any more, and has taken them from other agents: {tools}.', {
      tools: dropped.join(', '),
    }),
    todo: [
      ...(here.length === 0 ? [] : [t('Set those up again, where the tools can be used: {again}.', { again })]),
      ...(elsewhere ? [t('There are such agents in other places, too.')] : []),
    ].join(' '),
  };
}

const reach = () =>
  t(
    'The Letta server has to reach the address above. Where it is another one from there, the owner of the bot sets `mcpUrl`: `set relay mcpUrl https://…`.',
  );

const TEST_TIMEOUT_MS = 60_000;

/** The connection test: asks the agent to post a line in a channel. */
async function testConnection(relay: Relay, place: Place, channelId: string, signal: AbortSignal): Promise<Step> {
  const problem = await postingTest(relay, place, channelId, signal);
  if (problem === undefined) return { ok: true, text: t('It has posted here.') };
  return {
    ok: false,
    text: t('It has not posted here. {problem}', { problem }),
    todo: t('`relay errors` and the log say more.'),
  };
}

/** @returns `undefined` when the agent has posted, otherwise what it did instead */
async function postingTest(
  { letta, authors, random }: Relay,
  { agentId, identity, guildId, userId }: Place,
  channelId: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const recording = authors.record(identity, channelId);
  try {
    const text = [
      'This is a test of your connection to Discord.',
      `Use the tool discord_send once, with the channelId ${channelId} and the message "I am connected.", and do nothing else.`,
    ].join('\n');
    const place = { guildId, channelId, userId };
    const key = `setup-${random.id()}`;
    const agents = await letta.agents();
    const end = await agents.converse({ agentId, text, key, timeoutMs: TEST_TIMEOUT_MS, place }, signal);
    if (recording.messageIds().length > 0) return undefined;
    if (end.status === 'failed') return end.sentence;
    const used = end.tools.map(({ name, ok }) => `${name}${ok === false ? ' (failed)' : ''}`);
    return used.length === 0 ? t('It used no tool.') : t('It used {tools}.', { tools: used.join(', ') });
  } finally {
    recording.end();
  }
}
