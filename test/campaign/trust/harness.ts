import { createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalGuild, LocalRole, LocalUser, PermissionName } from '@cinnabar/local-discord';
import { type LettaStandIn, startLettaStandIn } from '@cinnabar/local-letta';
import { type ScriptedLlm, scriptedLlm } from '@cinnabar/local-models';
import { createManualClock } from '@cinnabar/sdk/testing';
import type { Dice } from '../confirm/dice.js';
import { createMind, type Mind } from './mind.js';
import { createOracle, type Oracle } from './oracle.js';

/** Two servers with people in one or both, places that are open or restricted by role and by member, and everything that can answer or read. */
export interface TrustHarness extends AsyncDisposable {
  readonly host: TestHost;
  readonly llm: ScriptedLlm;
  readonly letta: LettaStandIn;
  /** The admin of the agent: it reads, and calls tools, with this person's rights. */
  readonly keeper: LocalUser;
  /** The channel in which the agent answers. */
  readonly home: LocalChannel;
  readonly mind: Mind;
  readonly oracle: Oracle;
  readonly people: readonly [LocalUser, ...LocalUser[]];
  readonly guilds: readonly [LocalGuild, LocalGuild];
  readonly roles: ReadonlyMap<LocalGuild, readonly [LocalRole, ...LocalRole[]]>;
  /** The current channels and threads. */
  places(): readonly LocalChannel[];
  /** Hides a place from all but the bot, and gives access to some roles and people. */
  hide(channel: LocalChannel): void;
  /** Resolves when the bot and the agents are idle. */
  settled(): Promise<void>;
}

const PLUGINS = ['accounts', 'admin', 'ai', 'chat', 'confirm', 'discord-tools', 'mcp', 'persona', 'relay', 'tasks'];
const NAMES = ['carol', 'dave', 'erin', 'frank'] as const;
const SEEING: readonly PermissionName[] = [
  'ViewChannel',
  'ReadMessageHistory',
  'SendMessages',
  'SendMessagesInThreads',
];
/** discord.js itself sends at most 50 requests a second, so most of the time would be waiting. */
const NO_THROTTLE = 1_000_000_000;

export async function openTrustHarness(dice: Dice, serial: () => number): Promise<TrustHarness> {
  const mind = createMind(dice);
  const llm = scriptedLlm((view) => mind.answer(view, llm.requests.at(-1)));
  const clock = createManualClock();
  const letta = await startLettaStandIn({ clock, script: (turn) => mind.live(turn) });
  try {
    const host = await createTestHost({
      plugins: [llm, ...PLUGINS],
      settings: { mcp: { listen: '127.0.0.1:0', callsPerMinute: 10_000 } },
      env: { LETTA_BASE_URL: letta.baseUrl, LETTA_API_KEY: 'test-key' },
      clock,
    });
    try {
      return await furnish(host, llm, letta, mind, dice, serial);
    } catch (error) {
      await host[Symbol.asyncDispose]();
      throw error;
    }
  } catch (error) {
    await letta[Symbol.asyncDispose]();
    throw error;
  }
}

async function furnish(
  host: TestHost,
  llm: ScriptedLlm,
  letta: LettaStandIn,
  mind: Mind,
  dice: Dice,
  serial: () => number,
): Promise<TrustHarness> {
  const { discord, application, guild, you, alice, bob } = host;
  host.client.rest.options.globalRequestsPerSecond = NO_THROTTLE;
  host.client.rest.globalRemaining = NO_THROTTLE;
  discord.requests.enabled = false;
  const oracle = createOracle(discord, serial);
  const others = NAMES.map((name) => discord.createUser({ name }));
  const people: readonly [LocalUser, ...LocalUser[]] = [alice, bob, ...others, you];
  const second = discord.createGuild({ name: 'Second', owner: you });
  second.invite(application);
  const guilds = [guild, second] as const;
  const roles = new Map<LocalGuild, readonly [LocalRole, ...LocalRole[]]>();
  const hide = (channel: LocalChannel) => {
    if (channel.guild === undefined) return;
    channel.guild.overwrite(channel, { for: host.bot, allow: SEEING });
    channel.guild.overwrite(channel, { for: channel.guild.everyone, deny: ['ViewChannel'] });
  };
  for (const one of guilds) {
    for (const user of people) if (!one.members.has(user.id) && dice.chance(0.75)) one.join(user);
    roles.set(one, furnishGuild(one));
  }
  const settled = async () => {
    for (let round = 0; round < 2; round += 1) {
      await host.settled();
      await letta.idle();
    }
    await host.settled();
  };
  await settled();
  const keeper = alice;
  guild.giveRole(keeper, guild.createRole({ name: 'Keeper', permissions: ['ManageGuild'] }));
  const { id: agentId } = letta.addAgent({ name: 'aurora' });
  const { id: directId } = letta.addAgent({ name: 'borealis' });
  await settled();
  for (const one of guilds) await configure(one);
  const seen = [...guild.channels.values()].filter((channel) => oracle.sees(keeper, channel));
  const home = dice.pick([host.general, ...seen]);
  await admit();
  return {
    host,
    llm,
    letta,
    keeper,
    home,
    mind,
    oracle,
    people,
    guilds,
    roles,
    places: () => guilds.flatMap((one) => [...one.channels.values(), ...one.threads.values()]),
    hide,
    settled,
    async [Symbol.asyncDispose]() {
      await host[Symbol.asyncDispose]();
      await letta[Symbol.asyncDispose]();
    },
  };

  function furnishGuild(one: LocalGuild): readonly [LocalRole, ...LocalRole[]] {
    const staff = one.createRole({ name: 'Staff' });
    const crew = one.createRole({ name: 'Crew' });
    const rooms = [
      ['lounge', undefined],
      ['works', undefined],
      ['staff', staff],
      ['crew', crew],
    ] as const;
    for (const [name, role] of rooms) {
      const marker = oracle.mint();
      const channel = one.createChannel({ name: `${name}-${marker}` });
      oracle.nameOf(channel, marker);
      if (role === undefined) continue;
      hide(channel);
      one.overwrite(channel, { for: role, allow: SEEING });
    }
    for (const { user, roles: held } of one.members.values()) if (!user.bot && dice.chance(0.5)) held.add(staff);
    return [staff, crew];
  }

  /** Sets up an agent in one channel of the first server, and another in the direct messages of those who opt in. */
  async function admit() {
    const direct = you.openDm(application);
    const orders = [
      [keeper, home, `!relay agent ${agentId} aurora`],
      ...(dice.chance(0.5) ? [[keeper, home, '!relay grant everywhere aurora'] as const] : []),
      [keeper, home, '!relay enable'],
      [keeper, home, '!ai use relay --here'],
      [keeper, home, '!relay setup aurora'],
      [you, direct, `!relay dm agent ${directId}`],
      [you, direct, '!relay dm on'],
      [you, direct, '!relay dm setup'],
    ] as const;
    for (const [user, channel, text] of orders) {
      user.say(channel, text);
      await settled();
    }
    for (const user of people) {
      if (!dice.chance(0.3)) continue;
      user.say(user.openDm(application), '!relay dm on');
      user.say(user.openDm(application), '!ai use relay');
    }
    await settled();
  }

  /** Sets the responders of the channels, and the permissions of tools. */
  async function configure(one: LocalGuild) {
    const settings = [
      ...(dice.chance(0.5) ? ['confirm require destructive'] : []),
      ...(dice.chance(0.5) ? ['chat toolOutputVisible true'] : []),
      'ai turnsPerMinute 0',
      'tasks stepDelayMs 0',
    ];
    const [home] = one.channels.values();
    for (const setting of settings) if (home !== undefined) you.say(home, `!set ${setting}`);
    for (const channel of one.channels.values()) {
      const responder = dice.pick([undefined, 'persona', 'tasks']);
      if (responder !== undefined) you.say(channel, `!ai use ${responder} --here`);
    }
    await host.settled();
  }
}
