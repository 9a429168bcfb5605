import {
  type LocalChannel,
  LocalDiscordError,
  type LocalGuild,
  type LocalMessage,
  type LocalUser,
  type PermissionName,
} from '@cinnabar/local-discord';
import { type Dice, weighted } from '../confirm/dice.js';
import type { Chronicle } from './chronicle.js';
import type { TrustHarness } from './harness.js';

/** Words with which a search finds many messages. */
export const TOPICS = ['zebra', 'giraffe', 'lion', 'walrus'] as const;
const MOST_PLACES = 14;

/** Actions of people and moderators that are no turn of the bot: they are cheap, and the bot receives no event for most of them. */
export function createChanges(harness: TrustHarness, dice: Dice, chronicle: Chronicle) {
  const { host, oracle, people, guilds, roles } = harness;
  /** Latest messages of people, newest last. */
  const said: LocalMessage[] = [];

  const somewhere = (): LocalChannel | undefined => among(dice, harness.places());
  const member = (guild: LocalGuild): LocalUser | undefined =>
    among(
      dice,
      people.filter(({ id }) => guild.members.has(id)),
    );
  const saidNow = () => {
    const message = among(dice, said);
    return message === undefined || message.deleted || message.channel.deleted ? undefined : message;
  };
  const note = (text: string, ...about: readonly { readonly id: string }[]) => chronicle.note(text, about);

  const words = () => {
    const place = dice.chance(0.1) ? somewhere() : undefined;
    const mention = place === undefined ? '' : ` ${place}`;
    const person = dice.chance(0.05) ? ` ${dice.pick(people)}` : '';
    return `the ${dice.pick(TOPICS)} says ${oracle.mint()}${mention}${person}`;
  };

  const speak = () => {
    const channel = somewhere();
    const user = channel?.guild && member(channel.guild);
    if (channel === undefined || user === undefined) return;
    const answered = dice.chance(0.1) ? saidNow() : undefined;
    const replyTo = answered?.channel === channel ? { replyTo: answered } : {};
    const message = user.say(channel, words(), replyTo);
    said.push(message);
    if (said.length > 400) said.shift();
    note(`${user.username} says "${message.content}" in #${channel.name}`, channel, user, message);
  };
  const edit = () => {
    const message = saidNow();
    const user = message?.author.user;
    if (message === undefined || user === undefined) return;
    const before = message.content;
    user.edit(message, words());
    note(`${user.username} edits "${before}" to "${message.content}"`, message.channel, user, message);
  };
  const erase = () => {
    const message = saidNow();
    if (message === undefined) return;
    host.you.delete(message);
    note(`"${message.content}" in #${message.channel.name} is deleted`, message.channel, message);
  };
  const pin = () => {
    const message = saidNow();
    if (message === undefined) return;
    if (message.pinned) host.you.unpin(message);
    else host.you.pin(message);
    note(`"${message.content}" is ${message.pinned ? 'pinned' : 'unpinned'}`, message.channel, message);
  };
  const changeRole = () => {
    const guild = dice.pick(guilds);
    const user = member(guild);
    const role = dice.pick(roles.get(guild) ?? [guild.everyone]);
    if (user === undefined || user.id === guild.ownerId || role === guild.everyone) return;
    const has = guild.memberOf(user).roles.has(role);
    if (has) guild.takeRole(user, role);
    else guild.giveRole(user, role);
    note(`${user.username} ${has ? 'loses' : 'gets'} the role ${role.name} in ${guild.name}`, user);
  };
  const changeOverwrite = () => {
    const channel = somewhere();
    const guild = channel?.guild;
    if (channel === undefined || guild === undefined || channel.isThread) return;
    const user = member(guild);
    const target = dice.chance(0.5) ? dice.pick(roles.get(guild) ?? [guild.everyone]) : user;
    if (target === undefined) return;
    const names: readonly PermissionName[] = dice.chance(0.8) ? ['ViewChannel'] : ['ReadMessageHistory'];
    const isAllowed = dice.chance(0.5);
    guild.overwrite(channel, { for: target, ...(isAllowed ? { allow: names } : { deny: names }) });
    const who = 'username' in target ? target.username : target.name;
    note(`#${channel.name} ${isAllowed ? 'allows' : 'denies'} ${who} ${names.join()}`, channel, target);
  };
  const close = () => {
    const channel = somewhere();
    const guild = channel?.guild;
    if (channel === undefined || guild === undefined || channel.isThread || channel === host.general) return;
    if (dice.chance(0.5)) {
      harness.hide(channel);
      note(`#${channel.name} is hidden from everyone`, channel);
    } else {
      guild.overwrite(channel, { for: guild.everyone, allow: ['ViewChannel'] });
      note(`#${channel.name} is opened to everyone`, channel);
    }
  };
  const changePowers = () => {
    const guild = dice.pick(guilds);
    const role = dice.pick(roles.get(guild) ?? [guild.everyone]);
    if (role === guild.everyone) return;
    const permissions = dice.pick<readonly PermissionName[]>([
      [],
      [],
      ['ManageThreads'],
      ['Administrator'],
      ['ManageMessages'],
    ]);
    guild.editRole(role, { permissions });
    note(`${role.name} in ${guild.name} may now ${permissions.join() || 'nothing more'}`, role);
  };
  const leave = () => {
    const guild = dice.pick(guilds);
    const user = member(guild);
    if (user === undefined || user.id === guild.ownerId) return;
    guild.remove(user);
    note(`${user.username} is no longer in ${guild.name}`, user);
  };
  const join = () => {
    const guild = dice.pick(guilds);
    const user = dice.pick(people);
    if (guild.members.has(user.id)) return;
    guild.join(user);
    note(`${user.username} joins ${guild.name}`, user);
  };
  const startThread = () => {
    const channel = somewhere();
    const user = channel?.guild && member(channel.guild);
    if (channel === undefined || user === undefined || channel.isThread) return;
    const marker = oracle.mint();
    const isPrivate = dice.chance(0.6);
    const thread = user.startThread(channel, `talk ${marker}`, { private: isPrivate });
    oracle.nameOf(thread, marker);
    // Adds the bot to the thread, so that it can be asked there.
    thread.thread?.members.set(host.bot.id, host.clock.now());
    note(
      `${user.username} starts the ${isPrivate ? 'private' : 'public'} thread #${thread.name} in #${channel.name}`,
      thread,
      channel,
      user,
    );
    const all = harness.places().filter(({ isThread }) => isThread);
    const [oldest] = all;
    if (all.length > MOST_PLACES && oldest?.guild !== undefined) {
      oldest.guild.deleteChannel(oldest);
      note(`the thread #${oldest.name} is deleted`, oldest);
    }
  };
  const changeThread = () => {
    const thread = among(
      dice,
      harness.places().filter(({ isThread }) => isThread),
    );
    const user = thread?.guild && member(thread.guild);
    const members = thread?.thread?.members;
    if (thread === undefined || user === undefined || members === undefined) return;
    const was = members.delete(user.id);
    if (!was) members.set(user.id, host.clock.now());
    note(`${user.username} ${was ? 'leaves' : 'comes into'} the thread #${thread.name}`, thread, user);
  };
  const rename = () => {
    const channel = somewhere();
    const guild = channel?.guild;
    if (channel === undefined || guild === undefined || channel.isThread || channel === host.general) return;
    const marker = oracle.mint();
    oracle.nameOf(channel, marker);
    if (dice.chance(0.5)) channel.name = `${channel.name.split('-')[0] ?? 'place'}-${marker}`;
    else channel.topic = `All about ${marker}`;
    // Updates the channel for all clients.
    guild.overwrite(channel, { for: host.bot, allow: ['ViewChannel', 'ReadMessageHistory', 'SendMessages'] });
    note(`a channel becomes #${channel.name}, ${channel.topic ?? 'without a topic'}`, channel);
  };
  const react = () => {
    const message = saidNow();
    if (message !== undefined) host.you.react(message, '🎉');
  };

  const ways: readonly (readonly [number, () => void])[] = [
    [44, speak],
    [8, edit],
    [7, erase],
    [2, pin],
    [6, changeRole],
    [4, changeOverwrite],
    [1.5, close],
    [0.7, changePowers],
    [1.5, leave],
    [3, join],
    [3, startThread],
    [6, changeThread],
    [0.7, rename],
    [3, react],
  ];
  return {
    said,
    somewhere,
    member,
    /** Makes one change, unless Discord refuses it. */
    change() {
      try {
        weighted(dice, ways)?.();
      } catch (error) {
        if (!(error instanceof LocalDiscordError)) throw error;
      }
    },
  };
}
export type Changes = ReturnType<typeof createChanges>;

export function among<T>(dice: Dice, items: readonly T[]): T | undefined {
  return items[dice.between(0, items.length - 1)];
}
