import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalChannel, LocalGuild, LocalRole, LocalUser } from '@cinnabar/local-discord';
import { type Actor, Identities, type Outcome, SettingsCatalog, Tools } from '@cinnabar/sdk';

export type Input = Readonly<Record<string, unknown>>;

/** The result of a call: whether it ran, and the text about it. */
export interface Ended {
  readonly status: Outcome['status'];
  readonly text: string;
  readonly output: unknown;
}

export interface Harness extends AsyncDisposable {
  readonly host: TestHost;
  readonly guild: LocalGuild;
  readonly general: LocalChannel;
  /** The owner of the guild. */
  readonly owner: LocalUser;
  /** Has the permissions to manage messages, channels, roles, threads, webhooks and members; ranks below the bot. */
  readonly mod: LocalUser;
  readonly modRole: LocalRole;
  readonly alice: LocalUser;
  readonly bob: LocalUser;
  /** A user in no guild of the bot. */
  readonly stranger: LocalUser;
  call(user: LocalUser, tool: string, input: Input, more?: More): Promise<Ended>;
  /** The result text of a call that must succeed. */
  done(user: LocalUser, tool: string, input: Input, more?: More): Promise<string>;
  /** The error text of a call that must fail. */
  refused(user: LocalUser, tool: string, input: Input, more?: More): Promise<string>;
}
interface More {
  /** The channel of the call; default: #general. */
  readonly channel?: LocalChannel;
  readonly identity?: string;
  readonly key?: string;
}

const MODERATING = [
  'ManageMessages',
  'ManageChannels',
  'ManageRoles',
  'ManageThreads',
  'ManageWebhooks',
  'ModerateMembers',
  'PinMessages',
] as const;

interface HarnessOptions extends Partial<TestHostOptions> {
  readonly speakFor?: string;
  readonly mark?: 'line' | 'none';
}

/** A guild with the plugin: an owner, a moderator, plain members, and a user who is not a member. */
export async function openToolsHarness(options: HarnessOptions = {}): Promise<Harness> {
  const host = await createTestHost({ plugins: ['discord-tools'], ...options });
  const { discord, guild, general, you: owner, alice, bob } = host;
  for (const role of guild.roles.values()) if (role.botId !== undefined) guild.editRole(role, { position: 50 });
  // In a new guild everyone may mention @everyone, so that the permission could not be tested.
  const everyone = guild.everyone.permissions & ~(1n << 17n);
  guild.editRole(guild.everyone, { permissions: everyone });
  const modRole = guild.createRole({ name: 'Moderators', permissions: MODERATING, position: 20 });
  const mod = discord.createUser({ name: 'mona' });
  guild.join(mod, { roles: [modRole] });
  const stranger = discord.createUser({ name: 'stranger' });
  await host.settled();
  // Most tests are about the sent message, without the name of its requester.
  const admin: Actor = { userId: owner.id, guildId: guild.id, channelId: general.id };
  const { speakFor = 'everyone', mark = 'none' } = options;
  await host.resolve(SettingsCatalog).set('discord-tools', 'speakFor', speakFor, admin);
  await host.resolve(SettingsCatalog).set('discord-tools', 'mark', mark, admin);

  const call: Harness['call'] = async (user, name, input, { channel = general, identity, key } = {}) => {
    const place = { guildId: channel.guild?.id ?? null, channelId: channel.id };
    const actor: Actor = { userId: user.id, ...place, ...(identity === undefined ? {} : { identity }) };
    const request = { name, arguments: input, actor, origin: 'test', ...(key === undefined ? {} : { key }) };
    const outcome = await host.resolve(Tools).invoke(request);
    await host.settled();
    return ended(outcome);
  };
  return {
    host,
    guild,
    general,
    owner,
    mod,
    modRole,
    alice,
    bob,
    stranger,
    call,
    async done(user, tool, input, more) {
      const { status, text } = await call(user, tool, input, more);
      if (status !== 'done') throw new Error(`${tool} was to run, but: ${status} ${text}`);
      return text;
    },
    async refused(user, tool, input, more) {
      const { status, text } = await call(user, tool, input, more);
      if (status === 'done') throw new Error(`${tool} was not to run, but: ${text}`);
      return text;
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

function ended(outcome: Outcome): Ended {
  switch (outcome.status) {
    case 'done':
      return { status: 'done', text: outcome.text, output: outcome.output };
    case 'failed':
      return { status: 'failed', text: outcome.error.message, output: undefined };
    case 'deferred':
      return { status: 'deferred', text: outcome.note, output: undefined };
    default:
      return { status: outcome.status, text: outcome.reason, output: undefined };
  }
}

/** Adds an agent, as the owner, with every tool, but only in some channels. */
export async function letIn(harness: Harness, identity: string, channels: readonly string[] | 'all'): Promise<void> {
  const { host, guild, general, owner } = harness;
  const tools = Object.fromEntries(
    host
      .resolve(Tools)
      .list()
      .map(({ name }) => [name, 'allow' as const]),
  );
  const grant = { guildId: guild.id, userId: owner.id, channelId: general.id, channels, tools };
  await host.resolve(Identities).save({ id: identity, plugin: 'discord-tools', name: 'Aurora', grants: [grant] });
}
