import {
  type APIModalInteractionResponseCallbackComponent,
  type APIModalSubmissionComponent,
  ComponentType,
  InteractionType,
  type ModalSubmitComponent,
} from 'discord-api-types/v10';
import { interactionBase, nothingReferred, type Referred, resolvedPayload } from '../payload/interactions.js';
import { messagePayload } from '../payload/messages.js';
import { pressedMessage, sendInteraction, startInteraction } from '../resources/interactions.js';
import { type AnyComponent, isSelect, walkComponents } from '../rules/components.js';
import { fullViewer } from '../rules/messages.js';
import type { LocalInteraction } from '../state/interactions.js';
import type { LocalUser, SelectValue } from '../state/users.js';
import type { World } from '../world.js';
import { choose } from './components.js';

type Fields = Readonly<Record<string, string | readonly SelectValue[]>>;

/** Submits a modal's fields. Throws a plain Error when a field is unknown, or a required one is missing. */
export function submitModal(
  world: World,
  user: LocalUser,
  trigger: LocalInteraction,
  fields: Fields,
): LocalInteraction {
  const { modal, application, channel } = trigger;
  if (!modal) throw new Error('The interaction was not answered with a modal.');
  if (user !== trigger.user) throw new Error('Only the person who was shown the modal can submit it.');
  const referred = nothingReferred();
  const unused = new Set(Object.keys(fields));
  const components = modal.components.flatMap((component) => submitted(component, fields, unused, referred));
  if (unused.size > 0) throw new Error(`The modal has no field ${[...unused].map((name) => `"${name}"`).join(', ')}.`);
  const source = { kind: 'modal', trigger, customId: modal.custom_id } as const;
  const interaction = startInteraction(world, application, user, channel, source);
  const now = world.clock.now();
  const resolved = resolvedPayload(referred, channel.guild, user, now);
  const fromMessage = trigger.source.kind === 'component';
  return sendInteraction(world, interaction, {
    ...interactionBase(interaction, now),
    type: InteractionType.ModalSubmit,
    ...(fromMessage ? { message: messagePayload(pressedMessage(interaction), fullViewer(application.id)) } : {}),
    data: { custom_id: modal.custom_id, components, ...(Object.keys(resolved).length > 0 ? { resolved } : {}) },
  });
}

/** A top-level component of the modal, with the user's values; text displays are returned empty. */
function submitted(
  component: APIModalInteractionResponseCallbackComponent,
  fields: Fields,
  unused: Set<string>,
  referred: Referred,
): APIModalSubmissionComponent[] {
  if (component.type === ComponentType.ActionRow) {
    const inputs = component.components.flatMap((input) => {
      if (input.type !== ComponentType.TextInput) return [];
      const value = textOf(input, take(fields, unused, input.custom_id, input.label));
      return [{ type: ComponentType.TextInput as const, custom_id: input.custom_id, value }];
    });
    return [{ type: ComponentType.ActionRow, components: inputs }];
  }
  if (component.type !== ComponentType.Label) return [{ type: ComponentType.TextDisplay }];
  for (const { component: inner } of walkComponents([component.component])) {
    const customId = String(inner.custom_id);
    const given = take(fields, unused, customId, component.label);
    return [{ type: ComponentType.Label, component: filled(inner, customId, given, referred) }];
  }
  return [];
}

function take(fields: Fields, unused: Set<string>, customId: string, label: string | undefined) {
  for (const name of [customId, label]) {
    if (name === undefined || fields[name] === undefined) continue;
    unused.delete(name);
    return fields[name];
  }
  return undefined;
}

function textOf(
  input: { custom_id: string; required?: boolean; value?: string; min_length?: number; max_length?: number },
  given: string | readonly SelectValue[] | undefined,
): string {
  const value = typeof given === 'string' ? given : (input.value ?? '');
  if (value === '' && input.required !== false) throw new Error(`The field "${input.custom_id}" is required.`);
  if (value.length > (input.max_length ?? 4_000) || (value !== '' && value.length < (input.min_length ?? 0))) {
    throw new Error(
      `The field "${input.custom_id}" takes ${input.min_length ?? 0} to ${input.max_length ?? 4_000} characters.`,
    );
  }
  return value;
}

function filled(
  component: AnyComponent,
  customId: string,
  given: string | readonly SelectValue[] | undefined,
  referred: Referred,
): ModalSubmitComponent {
  if (!isSelect(component)) {
    const required = component.required !== false;
    const preset = typeof component.value === 'string' ? { value: component.value } : {};
    return {
      type: ComponentType.TextInput,
      custom_id: customId,
      value: textOf({ custom_id: customId, required, ...preset }, given),
    };
  }
  const { chosen, referred: found } = choose(component, typeof given === 'string' ? [given] : (given ?? []));
  for (const user of found.users) referred.users.add(user);
  for (const role of found.roles) referred.roles.add(role);
  for (const channel of found.channels) referred.channels.add(channel);
  return selected(component.type, customId, chosen);
}

function selected(type: number, customId: string, values: string[]): ModalSubmitComponent {
  switch (type) {
    case ComponentType.UserSelect:
      return { type: ComponentType.UserSelect, custom_id: customId, values };
    case ComponentType.RoleSelect:
      return { type: ComponentType.RoleSelect, custom_id: customId, values };
    case ComponentType.MentionableSelect:
      return { type: ComponentType.MentionableSelect, custom_id: customId, values };
    case ComponentType.ChannelSelect:
      return { type: ComponentType.ChannelSelect, custom_id: customId, values };
    default:
      return { type: ComponentType.StringSelect, custom_id: customId, values };
  }
}
