import {
  type APIModalInteractionResponseCallbackData,
  InteractionType,
  MessageFlags,
  InteractionResponseType as T,
} from 'discord-api-types/v10';
import { z } from 'zod';
import {
  acknowledgeComponent,
  answerWithMessage,
  checkAnswerable,
  deferAnswer,
  settle,
  updatePressed,
} from '../../actions/answer-interaction.js';
import { discordError, invalidForm } from '../../errors.js';
import { messagePayload } from '../../payload/message.js';
import { fullViewer } from '../../rules/message-content.js';
import type { LocalInteraction } from '../../state/interaction.js';
import type { LocalMessage } from '../../state/message.js';
import type { RestContext } from '../context.js';
import { choicesForm, modalForm } from '../forms/interaction.js';
import { messageEditForm, messageForm, toDraft, toEdit } from '../forms/message.js';
import { openRoute } from '../route.js';

const callbackForm = z.object({ type: z.enum(T), data: z.unknown().optional() });

/** Which answers fit which interaction. */
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
  settle(world, interaction);
  return undefined;
}

/** What `with_response=true` answers: discord.js's `withResponse`. */
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
