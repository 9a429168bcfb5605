import { readdirSync } from 'node:fs';
import { createMemoryDriver, createTestHost, type TestHost } from '@cinnabar/core/testing';
import type { LocalChannel, LocalGuild, LocalUser } from '@cinnabar/local-discord';
import {
  Access,
  AccessRules,
  type Actor,
  type CommandInfo,
  Commands,
  type Decision,
  EVERYTHING,
  Identities,
  Plugins,
  Tools,
} from '@cinnabar/sdk';
import { expect } from 'chai';
import { type APIApplicationCommandOption, ChannelType, ApplicationCommandOptionType as Type } from 'discord.js';

/** All bundled plugins: a new one is tested without a change here. */
const BUNDLED = readdirSync(new URL('../../../plugins/', import.meta.url));
const KINDS = ['member', 'moderator', 'admin', "server's owner", "bot's owner", 'blocked'] as const;
type Kind = (typeof KINDS)[number];
/** The tools with which a member makes the bot write a text. */
const SPEAKING = [
  'discord_send',
  'discord_edit_message',
  'discord_reply_to_forum',
  'discord_create_forum_post',
  'discord_send_webhook_message',
];

/** A request to `Access.decide`, and the decision. */
interface Asked {
  readonly userId: string;
  readonly kind: 'command' | 'component' | 'tool';
  readonly name: string;
  readonly allowed: boolean;
}

describe('security: the matrix of commands, tools, members and surfaces', () => {
  let host: TestHost;
  let guild: LocalGuild;
  let channel: LocalChannel;
  let people: Readonly<Record<Kind, LocalUser>>;
  let decide: Access['decide'];
  const asked: Asked[] = [];

  before(async function () {
    this.timeout(60_000);
    host = await createTestHost({ plugins: BUNDLED, driver: createMemoryDriver() });
    const { discord } = host;
    const user = (name: string) => discord.createUser({ name });
    people = {
      member: user('member'),
      moderator: user('moderator'),
      admin: user('admin'),
      "server's owner": user('owner'),
      "bot's owner": host.you,
      blocked: user('blocked'),
    };
    guild = discord.createGuild({ name: 'Matrix', owner: people["server's owner"] });
    channel = guild.createChannel({ name: 'matrix' });
    for (const one of Object.values(people)) if (!guild.members.has(one.id)) guild.join(one);
    guild.giveRole(people.moderator, guild.createRole({ name: 'Mods', permissions: ['ModerateMembers'] }));
    guild.giveRole(people.admin, guild.createRole({ name: 'Admins', permissions: ['ManageGuild'] }));
    // Discord refuses `/ignore category` when there is no category.
    guild.createChannel({ name: 'Category', type: ChannelType.GuildCategory });
    guild.invite(host.application);
    await host.settled();
    for (const id of BUNDLED) await host.resolve(Plugins).enable(guild.id, id);
    for (const one of Object.values(people)) one.say(channel, 'hello');
    const subject = { kind: 'user', id: people.blocked.id } as const;
    await host.resolve(AccessRules).set(guild.id, { effect: 'deny', target: EVERYTHING, subject });
    await host.settled();
    const access = host.resolve(Access);
    decide = access.decide.bind(access);
    // Every request is recorded and refused without an answer, so that no command runs.
    const refuseAll: Access['decide'] = async (actor, request) => {
      const { allowed } = await decide(actor, request);
      asked.push({ userId: actor.userId, kind: request.kind, name: request.name, allowed });
      return { allowed: false, reasons: [{ rule: 'test', allowed: false, text: 'nothing runs' }], ignored: true };
    };
    Object.assign(access, { decide: refuseAll });
  });
  after(() => host[Symbol.asyncDispose]());

  const actorOf = (kind: Kind): Actor => ({ userId: people[kind].id, guildId: guild.id, channelId: channel.id });
  /** The decisions since the last call, by member and name. */
  const decisions = async (of: Asked['kind']) => {
    await host.settled();
    const all = asked.splice(0).filter(({ kind }) => kind === of);
    return new Map(all.map(({ userId, name, allowed }) => [`${name} for ${userId}`, allowed]));
  };
  /** Runs a task with the real decision function. */
  const withRealDecision = async <T>(task: () => Promise<T>): Promise<T> => {
    const access = host.resolve(Access);
    const spy = access.decide;
    Object.assign(access, { decide });
    try {
      return await task();
    } finally {
      Object.assign(access, { decide: spy });
    }
  };

  /** Every command, with the decision for each kind of member. */
  const explainAll = () =>
    withRealDecision(async () => {
      const commands = host.resolve(Commands);
      const tops = [...new Set(commands.names().map((name) => name.split(' ', 1).join()))];
      const leaves = new Map<string, CommandInfo>();
      const decided = new Map<string, Decision>();
      for (const kind of KINDS) {
        for (const top of tops) {
          for (const { command, decision } of await commands.explain(actorOf(kind), top)) {
            leaves.set(command.name, command);
            decided.set(keyOf(command.name, kind), decision);
          }
        }
      }
      return { leaves: [...leaves.values()], decided };
    });
  const keyOf = (name: string, kind: Kind) => `${name} for ${people[kind].id}`;
  /** Runs the slash command, unless Discord does not show it to the member. */
  const choose = (kind: Kind, name: string): boolean => {
    try {
      people[kind].slash(channel, name, optionsFor(host, guild, people.member, name));
      return true;
    } catch (error) {
      if (error instanceof Error && /permission|^No subcommand/i.test(error.message)) return false;
      throw error;
    }
  };

  it('decides on every command alike by prefix and by slash, as it explains', async function () {
    this.timeout(60_000);
    const { leaves, decided } = await explainAll();
    asked.splice(0);
    const by = (surface: 'prefix' | 'slash') =>
      leaves
        .filter((leaf) => leaf.surface === 'both' || leaf.surface === surface)
        .flatMap(({ name }) => KINDS.map((kind) => ({ name, kind, key: keyOf(name, kind) })));
    for (const { name, kind } of by('prefix')) people[kind].say(channel, `!${name}`);
    const typed = by('prefix').map(({ key }) => key);
    const byPrefix = await decisions('command');
    expect(typed.filter((key) => byPrefix.get(key) !== decided.get(key)?.allowed)).to.deep.equal([]);

    // Responses to all of these would take most of the time of the test.
    Object.assign(host.client.rest, { post: async () => undefined, delete: async () => undefined });
    const chosen: string[] = [];
    const kept: string[] = [];
    for (const { name, kind, key } of by('slash')) (choose(kind, name) ? chosen : kept).push(key);
    const bySlash = await decisions('command');
    expect(chosen.filter((key) => bySlash.get(key) !== decided.get(key)?.allowed)).to.deep.equal([]);

    const counts = [leaves.length, byPrefix.size, bySlash.size, kept.length];
    process.stdout.write(
      `      commands: ${counts[0]}, decisions by prefix: ${counts[1]}, by slash: ${counts[2]}, kept back by Discord: ${counts[3]}\n`,
    );
    expect(leaves.length).to.be.above(80);
    expect(chosen.length).to.be.above(leaves.length * 3);
    expect(typed.filter((key) => decided.get(key)?.allowed !== true)).to.have.length.within(100, typed.length - 100);
    for (const { name } of leaves) expect(decided.get(keyOf(name, 'blocked'))?.ignored, name).to.equal(true);
  });

  it('decides on every tool alike for a model that acts for a member and for an agent by MCP, as it explains', async function () {
    this.timeout(60_000);
    const tools = host.resolve(Tools);
    const names = tools.list().map(({ name }) => name);
    const grant = Object.fromEntries(names.map((name) => [name, 'allow' as const]));
    const expected = new Map<string, boolean>();
    let compared = 0;
    await withRealDecision(async () => {
      for (const kind of KINDS) {
        const actor = actorOf(kind);
        const id = `test:${kind.replaceAll(/\W/g, '-')}`;
        const { userId, guildId, channelId } = actor;
        await host.resolve(Identities).save({
          id,
          plugin: 'mcp',
          name: kind,
          grants: [{ userId, guildId, channelId, channels: 'all', tools: grant }],
        });
        const explained = await Promise.all(
          names.map(async (name) => ({ name, decision: await tools.explain(actor, name) })),
        );
        for (const { name, decision } of explained) {
          const ofPeople = decision?.reasons.filter(({ rule }) => rule !== 'tool-policy') ?? [];
          expected.set(`${name} for ${userId}`, decision !== undefined && ofPeople.every((reason) => reason.allowed));
        }
        const allowed = explained.flatMap(({ name, decision }) => (decision?.allowed === true ? [name] : []));
        const ofAgent = (await tools.offered({ ...actor, identity: id })).map(({ name }) => name);
        const ofModel = (await tools.offered(actor)).map(({ name }) => name);
        // The selection of tools for a model depends on more than access.
        expect(
          ofModel.filter((name) => !allowed.includes(name)),
          `${kind}, model`,
        ).to.deep.equal([]);
        // An agent writes as itself: the setting for writing through the bot is about members.
        const ownVoice = allowed.length === 0 ? [] : names.filter((name) => SPEAKING.includes(name));
        const usable = new Set((await tools.available({ ...actor, identity: id })).map(({ name }) => name));
        const ofBoth = [...new Set([...allowed, ...ownVoice])].filter((name) => usable.has(name));
        expect(ofAgent, `${kind}, MCP`).to.have.members(ofBoth);
        if (kind === 'blocked') expect([allowed, ofAgent, ofModel]).to.deep.equal([[], [], []]);
        compared += explained.length * 3;
      }
    });

    // Also when they are called: calls of tools without arguments, or whose arguments need no target, reach the decision.
    asked.splice(0);
    await Promise.all(
      KINDS.flatMap((kind) =>
        names.map((name) => tools.invoke({ name, arguments: {}, actor: actorOf(kind), origin: 'chat' })),
      ),
    );
    const called = asked.splice(0).filter(({ kind }) => kind === 'tool');
    expect(
      called.filter(({ name, userId, allowed }) => expected.get(`${name} for ${userId}`) !== allowed),
    ).to.deep.equal([]);
    process.stdout.write(`      tools: ${names.length}, compared: ${compared}, called: ${called.length}\n`);
    expect(names.length).to.be.above(60);
    expect(called.length).to.be.above(30);
  });
});

/** A valid value for every option that a slash command requires. */
function optionsFor({ application }: TestHost, guild: LocalGuild, someone: LocalUser, path: string) {
  const [name = '', ...words] = path.split(' ');
  const declared = [...(application.guildCommands.get(guild.id)?.values() ?? [])].find((one) => one.name === name);
  let options: readonly APIApplicationCommandOption[] = declared?.options ?? [];
  for (const word of words) {
    const inner = options.find((one) => one.name === word);
    options = inner !== undefined && 'options' in inner ? (inner.options ?? []) : [];
  }
  return Object.fromEntries(
    options
      .filter((option) => option.required === true)
      .flatMap((option) => {
        const value = fitting(option, guild, someone);
        return value === undefined ? [] : [[option.name, value]];
      }),
  );
}

function fitting(option: APIApplicationCommandOption, guild: LocalGuild, someone: LocalUser) {
  if ('choices' in option && option.choices?.[0] !== undefined) return option.choices[0].value;
  switch (option.type) {
    case Type.String:
      return 'x'.repeat(option.min_length ?? 1);
    case Type.Integer:
    case Type.Number:
      return option.min_value ?? 1;
    case Type.Boolean:
      return true;
    case Type.Role:
      return guild.everyone;
    case Type.Attachment:
      return { name: 'file.txt', data: Buffer.from('x') };
    case Type.Channel:
      return [...guild.channels.values()].find(({ type }) => option.channel_types?.some((one) => one === type) ?? true);
    default:
      return someone;
  }
}
