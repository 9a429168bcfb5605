import { createTestHost, type TestHost, type TestHostOptions } from '@cinnabar/core/testing';
import type { LocalRole, LocalUser, PermissionName } from '@cinnabar/local-discord';
import { type Actor, type Outcome, Tools } from '@cinnabar/sdk';
import { useSharedHost } from '../../support/shared-host.js';

const BOT_PERMISSIONS: readonly PermissionName[] = [
  'ViewChannel',
  'SendMessages',
  'ReadMessageHistory',
  'ManageMessages',
  'ManageChannels',
  'ManageRoles',
  'ModerateMembers',
  'KickMembers',
  'BanMembers',
  'ViewAuditLog',
  'AddReactions',
  'CreatePublicThreads',
  'CreatePrivateThreads',
  'SendMessagesInThreads',
];

export interface Harness extends AsyncDisposable {
  readonly host: TestHost;
  /** A moderator below the bot, with all permissions that the actions need. */
  readonly mod: LocalUser;
  /** Sends a message in #general; resolves with the bot's answer. */
  say(user: LocalUser, text: string): Promise<string>;
  /** The direct messages that a member has received from the bot. */
  told(user: LocalUser): readonly string[];
  /** Calls a tool as a model on behalf of a member. */
  call(user: LocalUser, name: string, input: Readonly<Record<string, unknown>>): Promise<string>;
  actor(user: LocalUser): Actor;
}

export async function openHarness(
  options: Partial<TestHostOptions> & { readonly without?: readonly PermissionName[] } = {},
): Promise<Harness> {
  const { without = [], plugins = [], ...rest } = options;
  const host = await createTestHost({
    plugins: ['admin', 'moderation', ...plugins],
    permissions: BOT_PERMISSIONS.filter((name) => !without.includes(name)),
    ...rest,
  });
  return harnessOf(host);
}

/**
 * One host for the tests of a file: see `useSharedHost`.
 * @returns opens a harness in a guild of its own
 */
export function useHarness(): () => Promise<Harness> {
  const enter = useSharedHost(() => ({ plugins: ['admin', 'moderation'], permissions: BOT_PERMISSIONS }));
  return async () => harnessOf(await enter());
}

/** A harness for a running host, such as a second one on the same local Discord. */
export function harnessOf(host: TestHost): Harness {
  const { guild, general } = host;
  const known = [...guild.members.values()].find(({ user }) => user.username === 'mod')?.user;
  const mod = known ?? host.discord.createUser({ name: 'mod' });
  if (known === undefined) {
    guild.join(mod);
    guild.giveRole(mod, modRole(host));
  }
  const actor = (user: LocalUser) => ({ userId: user.id, guildId: guild.id, channelId: general.id });
  return {
    host,
    mod,
    actor,
    async say(user, text) {
      const before = new Set(general.messages.map(({ id }) => id));
      user.say(general, text);
      await host.settled();
      return general.messages
        .filter(({ id, author }) => !before.has(id) && author.bot)
        .map(({ content }) => content)
        .join('\n');
    },
    told: (user) => user.openDm(host.application).messages.map(({ content }) => content),
    async call(user, name, input) {
      return textOf(await host.resolve(Tools).invoke({ name, arguments: input, actor: actor(user), origin: 'test' }));
    },
    [Symbol.asyncDispose]: () => host[Symbol.asyncDispose](),
  };
}

/** A role below the bot's own. */
function modRole({ guild, application }: TestHost): LocalRole {
  for (const role of guild.roles.values()) if (role.botId === application.id) guild.editRole(role, { position: 50 });
  return guild.createRole({
    name: 'Moderator',
    position: 10,
    permissions: ['KickMembers', 'BanMembers', 'ModerateMembers', 'ManageMessages', 'ManageChannels', 'ManageRoles'],
  });
}

function textOf(outcome: Outcome): string {
  if (outcome.status === 'done') return outcome.text;
  if (outcome.status === 'failed') return outcome.error.message;
  return outcome.status === 'denied' || outcome.status === 'expired' ? outcome.reason : outcome.note;
}
