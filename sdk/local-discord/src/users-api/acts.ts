import type { APIApplicationCommandOption } from 'discord-api-types/v10';
import { offeredTo, optionsAt } from '../people/commands.js';
import { findChannel } from '../resources/find.js';
import { ComponentKind, walkComponents } from '../rules/components.js';
import { canView } from '../rules/permissions.js';
import { compareIds } from '../snowflakes.js';
import type { LocalChannel } from '../state/channels.js';
import type { LocalInteraction } from '../state/interactions.js';
import type { LocalMessage } from '../state/messages.js';
import type { LocalUser, OptionValue, SelectValue } from '../state/users.js';
import type { World } from '../world.js';
import type { UserAct } from './protocol.js';
import { isVisible, type ReadMarks, seenMessage, snapshotFor } from './view.js';

const PAGE = 50;

interface ActContext {
  readonly world: World;
  readonly user: LocalUser;
  readonly marks: ReadMarks;
  readonly advance: ((ms: number) => Promise<void>) | undefined;
  /** Called once the member has read a channel. */
  onRead(channel: LocalChannel): void;
}

type Given = Extract<UserAct, { act: 'slash' }>['options'];

/**
 * Executes an act with the same methods as tests and the console.
 * @returns the response to the act
 * @throws LocalDiscordError and plain errors with a sentence for the person
 */
export async function carryOut(context: ActContext, act: UserAct): Promise<object> {
  const { world, user, marks } = context;
  switch (act.act) {
    case 'snapshot':
      return snapshotFor(world, user, marks, context.advance !== undefined);
    case 'ping':
      return { now: world.clock.now() };
    case 'messages':
      return page(context, act.channel, act.before);
    case 'typing':
      user.typing(channelOf(context, act.channel));
      return {};
    case 'ack':
      markRead(context, channelOf(context, act.channel), act.message);
      return {};
    case 'openDm':
      return { channel: user.openDm(recipientOf(context, act.user)).id };
    case 'startThread':
      return { channel: user.startThread(messageOf(context, act), act.name).id };
    case 'advance':
      if (context.advance === undefined) throw new Error('The clock of this local Discord cannot be moved.');
      await context.advance(act.ms);
      return {};
    case 'say':
    case 'edit':
    case 'delete':
    case 'react':
    case 'unreact':
      return write(context, act);
    default:
      return interact(context, act);
  }
}

type Writing = Extract<UserAct, { act: 'say' | 'edit' | 'delete' | 'react' | 'unreact' }>;

function write(context: ActContext, act: Writing): object {
  const { user } = context;
  switch (act.act) {
    case 'say': {
      const files = act.files?.map(toFile);
      const replyTo = act.replyTo === undefined ? undefined : messageOf(context, { ...act, message: act.replyTo });
      user.say(channelOf(context, act.channel), act.content, { ...(files && { files }), ...(replyTo && { replyTo }) });
      break;
    }
    case 'edit':
      user.edit(messageOf(context, act), act.content);
      break;
    case 'delete':
      user.delete(messageOf(context, act));
      break;
    case 'react':
      user.react(messageOf(context, act), act.emoji);
      break;
    case 'unreact':
      user.unreact(messageOf(context, act), act.emoji);
      break;
  }
  return {};
}

type Interacting = Extract<UserAct, { act: 'click' | 'select' | 'submit' | 'commands' | 'slash' | 'autocomplete' }>;

async function interact(context: ActContext, act: Interacting): Promise<object> {
  const { world, user } = context;
  switch (act.act) {
    case 'click':
      return started(user.click(messageOf(context, act), act.button));
    case 'select': {
      const message = messageOf(context, act);
      return started(user.select(message, act.menu, chosen(context, message, act.menu, act.values)));
    }
    case 'submit': {
      const interaction = [...world.interactions.values()].find(
        (one) => one.id === act.interaction && one.user === user,
      );
      if (interaction?.modal === undefined) throw new Error('The form is not open any more.');
      return started(user.submit(interaction, fieldValues(context, interaction, act.fields)));
    }
    case 'commands':
      return { commands: offeredTo(world, user, channelOf(context, act.channel)).map(({ command }) => command) };
    case 'slash': {
      const channel = channelOf(context, act.channel);
      return started(user.slash(channel, act.command, optionValues(context, channel, act.command, act.options)));
    }
    case 'autocomplete': {
      const channel = channelOf(context, act.channel);
      const options = optionValues(context, channel, act.command, act.options);
      const interaction = user.autocomplete(channel, act.command, act.focused, act.typed, options);
      const { choices = [] } = await interaction.answered();
      return { choices };
    }
  }
}

function started({ id }: LocalInteraction): object {
  return { interaction: id };
}

function page({ world, user }: ActContext, channelId: string, before: string | undefined): object {
  const all = user.read(findChannel(world, channelId, user)).sort((a, b) => compareIds(a.id, b.id));
  const older = before === undefined ? all : all.filter((message) => compareIds(message.id, before) < 0);
  const messages = older.slice(-PAGE).map((message) => seenMessage(message, user));
  return { messages, more: older.length > PAGE };
}

function markRead({ marks, user, onRead }: ActContext, channel: LocalChannel, message: string): void {
  const own = marks.get(user.id) ?? new Map<string, string>();
  marks.set(user.id, own);
  if (compareIds(message, own.get(channel.id) ?? '0') <= 0) return;
  own.set(channel.id, message);
  onRead(channel);
}

function channelOf({ world, user }: ActContext, id: string): LocalChannel {
  return findChannel(world, id, user);
}

function messageOf(context: ActContext, { channel, message }: { channel: string; message: string }): LocalMessage {
  const found = channelOf(context, channel).messagesById.get(message);
  if (found === undefined || !isVisible(context.world, context.user, found))
    throw new Error('The message is not there any more.');
  return found;
}

function userOf(world: World, id: string): LocalUser {
  const found = world.users.get(id);
  if (found === undefined) throw new Error('There is no such person.');
  return found;
}

/** As in Discord, a user can write to people with whom they share a server, or have written before. */
function recipientOf({ world, user }: ActContext, id: string): LocalUser {
  const other = userOf(world, id);
  const isKnown = [...world.guilds.values()].some(({ members }) => members.has(user.id) && members.has(id));
  if (isKnown || other === user || user.dms.has(id)) return other;
  throw new Error('You can write to people with whom you share a server.');
}

interface GivenFile {
  name: string;
  data: string;
  type?: string | undefined;
}

function toFile({ name, data, type }: GivenFile) {
  return { name, data: Buffer.from(data, 'base64'), ...(type === undefined ? {} : { contentType: type }) };
}

/** Menus of people, roles or channels accept objects, not ids. */
function chosen(
  context: ActContext,
  { channel, components }: { channel: LocalChannel; components: readonly unknown[] },
  menu: string,
  values: readonly string[],
): SelectValue[] {
  for (const { component } of walkComponents(components))
    if (component.custom_id === menu && component.type !== ComponentKind.StringSelect)
      return values.map((id) => named(context, channel, id));
  return [...values];
}

/** The submitted values: texts, and choices of menus. */
function fieldValues(
  context: ActContext,
  { channel, modal }: LocalInteraction,
  fields: Extract<UserAct, { act: 'submit' }>['fields'],
): Record<string, string | readonly SelectValue[]> {
  const form = { channel, components: modal?.components ?? [] };
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : chosen(context, form, key, value),
    ]),
  );
}

function named(
  { world, user }: ActContext,
  channel: LocalChannel,
  id: string,
): LocalUser | Exclude<SelectValue, string> {
  const known = world.users.get(id) ?? channel.guild?.roles.get(id);
  if (known !== undefined) return known;
  const found = world.channels.get(id);
  if (found === undefined || !canView(found, user, world.clock.now()))
    throw new Error(`There is nobody and nothing with the id ${id}.`);
  return found;
}

/** Replaces ids by their objects where the command expects a person, a role or a channel. */
function optionValues(
  context: ActContext,
  channel: LocalChannel,
  path: string,
  given: Given,
): Record<string, OptionValue> {
  const { world, user } = context;
  const [name = '', ...words] = path.trim().split(/\s+/);
  const offered = offeredTo(world, user, channel).find(({ command }) => command.name === name);
  const declared = offered === undefined ? [] : optionsAt(offered.command, words);
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, optionValue(context, channel, declared, key, value)]),
  );
}

/** Members, channels, roles and "mentionable": https://docs.discord.com/developers/interactions/application-commands#application-command-object-application-command-option-type */
const REFERRING: ReadonlySet<number> = new Set([6, 7, 8, 9]);

function optionValue(
  context: ActContext,
  channel: LocalChannel,
  declared: readonly APIApplicationCommandOption[],
  name: string,
  value: Given[string],
): OptionValue {
  if (typeof value === 'object') return toFile(value);
  const option = declared.find((one) => one.name === name);
  if (option === undefined || typeof value !== 'string' || !REFERRING.has(option.type)) return value;
  return named(context, channel, value);
}
