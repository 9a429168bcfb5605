import {
  type APIInteraction,
  type APIMessageComponentInteractionData,
  ComponentType,
  InteractionType,
} from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import {
  interactionBase,
  nothingReferred,
  type Referred,
  resolvedPayload,
  resolvedUsers,
} from '../payload/interactions.js';
import { messagePayload } from '../payload/messages.js';
import { sendInteraction, startInteraction } from '../resources/interactions.js';
import { type AnyComponent, isClickable, isSelect, walkComponents } from '../rules/components.js';
import { fullViewer } from '../rules/messages.js';
import { requireInChannel } from '../rules/permissions.js';
import { isRole } from '../state/guilds.js';
import type { LocalInteraction } from '../state/interactions.js';
import type { LocalMessage } from '../state/messages.js';
import { isUser, type LocalUser, type SelectValue } from '../state/users.js';
import type { World } from '../world.js';

/** Presses a button. Throws a plain Error when there is no such button or it is disabled. */
export function clickButton(world: World, user: LocalUser, message: LocalMessage, name: string): LocalInteraction {
  const button = findComponent(message, name, 'button', isClickable, ['label', 'custom_id']);
  const data = { custom_id: String(button.custom_id), component_type: ComponentType.Button } as const;
  return useComponent(world, user, message, data);
}

/** Chooses from a menu. Throws a plain Error when there is no such menu or it does not offer the choice. */
export function selectValues(
  world: World,
  user: LocalUser,
  message: LocalMessage,
  name: string | undefined,
  values: readonly SelectValue[],
): LocalInteraction {
  const menu = findComponent(message, name, 'select menu', isSelect, ['placeholder', 'custom_id']);
  const { chosen, referred } = choose(menu, values);
  return useComponent(world, user, message, selectData(world, message, user, menu, chosen, referred));
}

function useComponent(
  world: World,
  user: LocalUser,
  message: LocalMessage,
  data: APIMessageComponentInteractionData,
): LocalInteraction {
  checkSees(world, user, message);
  const application = world.applications.get(message.applicationId ?? message.author.id);
  if (!application) throw new Error('No application listens to the components of this message.');
  const source = { kind: 'component', message, customId: data.custom_id } as const;
  const interaction = startInteraction(world, application, user, message.channel, source);
  const payload: APIInteraction = {
    ...interactionBase(interaction, world.clock.now()),
    type: InteractionType.MessageComponent,
    message: messagePayload(message, fullViewer(application.id)),
    data,
  };
  return sendInteraction(world, interaction, payload);
}

function checkSees(world: World, user: LocalUser, message: LocalMessage): void {
  if (message.deleted || (message.visibleTo && message.visibleTo !== user)) throw discordError('unknownMessage');
  requireInChannel(message.channel, user, world.clock.now());
}

function findComponent(
  message: LocalMessage,
  name: string | undefined,
  what: string,
  fits: (component: AnyComponent) => boolean,
  fields: readonly string[],
): AnyComponent {
  const all = [...walkComponents(message.components)].map(({ component }) => component).filter(fits);
  const found = all.find((component) => name === undefined || fields.some((field) => component[field] === name));
  if (!found) {
    // Identified by their visible text; components without text by their custom id.
    const names = all.map((component) => fields.map((field) => component[field]).find(Boolean)).join(', ');
    throw new Error(`No ${what} "${name ?? ''}" on the message; there are: ${names || 'none'}.`);
  }
  if (found.disabled === true) throw new Error(`The ${what} "${name ?? ''}" is disabled.`);
  return found;
}

/** The chosen ids or option values, checked against the menu. */
export function choose(menu: AnyComponent, values: readonly SelectValue[]): { chosen: string[]; referred: Referred } {
  const min = typeof menu.min_values === 'number' ? menu.min_values : 1;
  const max = typeof menu.max_values === 'number' ? menu.max_values : 1;
  if (values.length < min || values.length > max) throw new Error(`Choose from ${min} to ${max} values.`);
  const referred = nothingReferred();
  const chosen = values.map((value) => {
    if (typeof value === 'string') return optionValue(menu, value);
    if (isUser(value)) referred.users.add(value);
    else if (isRole(value)) referred.roles.add(value);
    else referred.channels.add(value);
    return value.id;
  });
  return { chosen, referred };
}

function optionValue(menu: AnyComponent, wanted: string): string {
  const options: unknown[] = Array.isArray(menu.options) ? menu.options : [];
  const offered: string[] = [];
  for (const option of options) {
    if (typeof option !== 'object' || option === null || !('value' in option) || typeof option.value !== 'string')
      continue;
    const label = 'label' in option && typeof option.label === 'string' ? option.label : option.value;
    if (option.value === wanted || label === wanted) return option.value;
    offered.push(label);
  }
  throw new Error(`"${wanted}" is not offered; there are: ${offered.join(', ') || 'none'}.`);
}

function selectData(
  world: World,
  message: LocalMessage,
  user: LocalUser,
  menu: AnyComponent,
  values: string[],
  referred: Referred,
): APIMessageComponentInteractionData {
  const { guild } = message.channel;
  const now = world.clock.now();
  const base = { custom_id: String(menu.custom_id), values };
  const { roles = {}, channels = {} } = resolvedPayload(referred, guild, user, now);
  const users = resolvedUsers([...referred.users], guild, now);
  switch (menu.type) {
    case ComponentType.UserSelect:
      return { ...base, component_type: ComponentType.UserSelect, resolved: users };
    case ComponentType.RoleSelect:
      return { ...base, component_type: ComponentType.RoleSelect, resolved: { roles } };
    case ComponentType.MentionableSelect:
      return { ...base, component_type: ComponentType.MentionableSelect, resolved: { ...users, roles } };
    case ComponentType.ChannelSelect:
      return { ...base, component_type: ComponentType.ChannelSelect, resolved: { channels } };
    default:
      return { ...base, component_type: ComponentType.StringSelect };
  }
}
