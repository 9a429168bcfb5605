import {
  type APIApplicationCommandOptionChoice,
  type APIInteraction,
  type APIModalInteractionResponseCallbackComponent,
  type APIModalInteractionResponseCallbackData,
  InteractionType,
  MessageFlags,
  MessageType,
  InteractionResponseType as T,
} from 'discord-api-types/v10';
import { z } from 'zod';
import { discordError, invalidForm } from '../errors.js';
import { broadcast } from '../gateway/dispatch.js';
import { messagePayload } from '../payload/messages.js';
import { messageEditForm, messageForm, toDraft, toEdit } from '../rest/message-form.js';
import { openRoute, type RestContext } from '../rest/request.js';
import { fullViewer, type MessageDraft, type MessageEdit } from '../rules/messages.js';
import { channelPermissions } from '../rules/permissions.js';
import type { LocalApplication } from '../state/applications.js';
import type { LocalChannel } from '../state/channels.js';
import { type InteractionSource, LocalInteraction } from '../state/interactions.js';
import type { LocalMessage } from '../state/messages.js';
import type { LocalUser } from '../state/users.js';
import type { World } from '../world.js';
import { editMessage } from './message-changes.js';
import { postMessage } from './messages.js';

/** Number of interactions that can be found by their token; the oldest are dropped. */
const KEPT = 5_000;

/** Starts an interaction; the caller sends its payload with `sendInteraction`. */
export function startInteraction(
  world: World,
  application: LocalApplication,
  user: LocalUser,
  channel: LocalChannel,
  source: InteractionSource,
): LocalInteraction {
  const id = world.nextId();
  const token = Buffer.from(`interaction:${id}:${application.id}`).toString('base64url');
  const interaction = new LocalInteraction(id, token, world.clock, application, user, channel, source);
  world.interactions.set(token, interaction);
  if (world.interactions.size > KEPT) {
    for (const oldest of world.interactions.keys()) {
      world.interactions.delete(oldest);
      break;
    }
  }
  return interaction;
}

/** Sends INTERACTION_CREATE, to the application only; no intent is needed. */
export function sendInteraction(
  world: World,
  interaction: LocalInteraction,
  payload: APIInteraction,
): LocalInteraction {
  const { application, channel } = interaction;
  const { repeat, omitChannel } = world.interactionFaults;
  if (omitChannel) delete payload.channel;
  const scope = { application, ...(channel.guild ? { guild: channel.guild } : {}) };
  world.notify({ type: 'interactionCreate', interaction });
  for (let times = repeat ? 2 : 1; times > 0; times -= 1) broadcast(world, 'INTERACTION_CREATE', scope, payload);
  return interaction;
}

/** @throws 10062 after the 3 seconds, 40060 when it was acknowledged before */
function checkAnswerable(interaction: LocalInteraction): void {
  if (interaction.acknowledged) throw discordError('alreadyAcknowledged');
  if (interaction.expired) throw discordError('unknownInteraction');
}

/** Responds with a message; this needs no permission to write. */
function answerWithMessage(world: World, interaction: LocalInteraction, draft: MessageDraft): LocalMessage {
  const message = post(world, interaction, draft, Boolean((draft.flags ?? 0) & MessageFlags.Ephemeral));
  interaction.response = message;
  markAnswered(world, interaction);
  return message;
}

/** "… is thinking": a message with the Loading flag, to be edited later. */
function deferAnswer(world: World, interaction: LocalInteraction, ephemeral: boolean): LocalMessage {
  interaction.deferredEphemeral = ephemeral;
  const message = post(world, interaction, { content: '', flags: MessageFlags.Loading }, ephemeral);
  interaction.response = message;
  interaction.advance('deferred');
  world.notify({ type: 'interactionDefer', interaction });
  return message;
}

/** Acknowledges a component without a response; `@original` is then the message with the component. */
function acknowledgeComponent(world: World, interaction: LocalInteraction): void {
  interaction.response = pressedMessage(interaction);
  markAnswered(world, interaction);
}

/** Edits the message with the component. */
function updatePressed(world: World, interaction: LocalInteraction, edit: MessageEdit): LocalMessage {
  const message = pressedMessage(interaction);
  editMessage(world, message, botPermissions(world, interaction), edit);
  interaction.response = message;
  markAnswered(world, interaction);
  return message;
}

/** A follow-up; the first one after a deferral replaces "thinking…", as on Discord. */
export function followUp(world: World, interaction: LocalInteraction, draft: MessageDraft): LocalMessage {
  const { response } = interaction;
  if (interaction.deferred && response && !response.deleted) {
    editAnswer(world, interaction, response, { ...draft, flags: undefined });
    return response;
  }
  return post(world, interaction, draft, Boolean((draft.flags ?? 0) & MessageFlags.Ephemeral));
}

/** Edits an answer or a follow-up. */
export function editAnswer(
  world: World,
  interaction: LocalInteraction,
  message: LocalMessage,
  edit: MessageEdit,
): void {
  editMessage(world, message, botPermissions(world, interaction), edit);
  if (interaction.deferred && message === interaction.response) markAnswered(world, interaction);
}

/** Marks the interaction as answered; the caller has set the response. */
function markAnswered(world: World, interaction: LocalInteraction): void {
  interaction.advance('answered');
  world.notify({ type: 'interactionAnswer', interaction });
}

/** The message with the used component, also for a modal that a component has opened. @throws 50035 when there is none */
export function pressedMessage(interaction: LocalInteraction): LocalMessage {
  const { source } = interaction;
  if (source.kind === 'component') return source.message;
  if (source.kind === 'modal') return pressedMessage(source.trigger);
  throw discordError('unknownMessage');
}

function post(world: World, interaction: LocalInteraction, draft: MessageDraft, ephemeral: boolean): LocalMessage {
  const { application, channel } = interaction;
  const isAnswer = interaction.response === undefined;
  const message = postMessage(
    world,
    channel,
    {
      author: application.user,
      permissions: botPermissions(world, interaction),
      webhookId: application.id,
      applicationId: application.id,
      interaction,
      ephemeral,
      ...(isAnswer ? answerType(interaction) : {}),
    },
    draft,
  );
  interaction.messages.push(message);
  return message;
}

/** The first response to a command has the type of the command. */
function answerType({ source }: LocalInteraction): { type?: MessageType } {
  if (source.kind !== 'command') return {};
  return { type: source.menu ? MessageType.ContextMenuCommand : MessageType.ChatInputCommand };
}

function botPermissions(world: World, { channel, application }: LocalInteraction): bigint {
  return channelPermissions(channel, application.user, world.clock.now());
}

const callbackForm = z.object({ type: z.enum(T), data: z.unknown().optional() });

/** The valid response types for each kind of interaction. */
const FITTING: Readonly<Record<LocalInteraction['source']['kind'], readonly T[]>> = {
  command: [T.ChannelMessageWithSource, T.DeferredChannelMessageWithSource, T.Modal],
  component: [
    T.ChannelMessageWithSource,
    T.DeferredChannelMessageWithSource,
    T.DeferredMessageUpdate,
    T.UpdateMessage,
    T.Modal,
  ],
  modal: [T.ChannelMessageWithSource, T.DeferredChannelMessageWithSource, T.DeferredMessageUpdate, T.UpdateMessage],
  autocomplete: [T.ApplicationCommandAutocompleteResult],
};

const SOURCE_TYPES: Readonly<Record<LocalInteraction['source']['kind'], InteractionType>> = {
  command: InteractionType.ApplicationCommand,
  component: InteractionType.MessageComponent,
  modal: InteractionType.ModalSubmit,
  autocomplete: InteractionType.ApplicationCommandAutocomplete,
};

export const interactionRoutes = [
  openRoute('POST', '/interactions/:interactionId/:token/callback', (context) => {
    const interaction = context.world.interactions.get(context.param('token'));
    if (interaction?.id !== context.param('interactionId')) throw discordError('unknownInteraction');
    const { type, data } = context.form(callbackForm);
    checkAnswerable(interaction);
    if (!FITTING[interaction.source.kind].includes(type)) {
      const message = `Value must be one of {${FITTING[interaction.source.kind].join(', ')}}.`;
      throw invalidForm({ path: ['type'], code: 'BASE_TYPE_CHOICES', message });
    }
    const message = answer(context, interaction, type, data ?? {});
    return context.query.get('with_response') === 'true' ? callbackPayload(interaction, type, message) : undefined;
  }),
];

function answer(context: RestContext, interaction: LocalInteraction, type: T, data: unknown): LocalMessage | undefined {
  const { world, files } = context;
  switch (type) {
    case T.ChannelMessageWithSource:
      return answerWithMessage(world, interaction, toDraft(context.parse(messageForm, data), files));
    case T.DeferredChannelMessageWithSource: {
      const { flags } = context.parse(messageForm, data);
      return deferAnswer(world, interaction, Boolean((flags ?? 0) & MessageFlags.Ephemeral));
    }
    case T.UpdateMessage:
      return updatePressed(world, interaction, toEdit(context.parse(messageEditForm, data), files));
    case T.Modal: {
      const modal: APIModalInteractionResponseCallbackData = context.parse(modalForm, data);
      interaction.modal = modal;
      break;
    }
    case T.ApplicationCommandAutocompleteResult:
      interaction.choices = context.parse(choicesForm, data).choices;
      break;
    default:
      acknowledgeComponent(world, interaction);
      return undefined;
  }
  markAnswered(world, interaction);
  return undefined;
}

/** The body for `with_response=true`: discord.js's `withResponse`. */
function callbackPayload(interaction: LocalInteraction, type: T, message: LocalMessage | undefined) {
  const viewer = fullViewer(interaction.application.id);
  return {
    interaction: {
      id: interaction.id,
      type: SOURCE_TYPES[interaction.source.kind],
      ...(message
        ? {
            response_message_id: message.id,
            response_message_loading: interaction.deferred,
            response_message_ephemeral: message.ephemeral,
          }
        : {}),
    },
    resource: { type, ...(message ? { message: messagePayload(message, viewer) } : {}) },
  };
}

function isModalComponent(value: unknown): value is APIModalInteractionResponseCallbackComponent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'number';
}

/** A modal: a title, and one to five labelled inputs. */
const modalForm = z.object({
  custom_id: z.string().min(1).max(100),
  title: z.string().min(1).max(45),
  components: z
    .array(
      z.custom<APIModalInteractionResponseCallbackComponent>(isModalComponent, {
        error: 'Invalid component',
        params: { code: 'UNION_TYPE_CHOICES' },
      }),
    )
    .min(1)
    .max(5),
});

function isChoice(value: unknown): value is APIApplicationCommandOptionChoice {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    value.name.length >= 1 &&
    value.name.length <= 100 &&
    'value' in value &&
    (typeof value.value === 'string' || typeof value.value === 'number')
  );
}

const choice = z.custom<APIApplicationCommandOptionChoice>(isChoice, {
  error: 'Must be between 1 and 100 in length.',
  params: { code: 'BASE_TYPE_BAD_LENGTH' },
});

/** Up to 25 suggestions. */
const choicesForm = z.object({ choices: z.array(choice).max(25) });
