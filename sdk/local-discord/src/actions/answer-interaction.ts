import { MessageFlags, MessageType } from 'discord-api-types/v10';
import { discordError } from '../errors.js';
import { channelPermissions } from '../rules/permissions.js';
import type { LocalInteraction } from '../state/interaction.js';
import type { LocalMessage } from '../state/message.js';
import type { World } from '../state/world.js';
import { editMessage } from './edit-message.js';
import type { MessageDraft, MessageEdit } from './message-draft.js';
import { postMessage } from './messages.js';

/** Throws 10062 when the 3 seconds are over, 40060 when it was acknowledged before. */
export function checkAnswerable(interaction: LocalInteraction): void {
  if (interaction.acknowledged) throw discordError('alreadyAcknowledged');
  if (interaction.expired) throw discordError('unknownInteraction');
}

/** Answers with a message; bots may do so even where they could not write otherwise. */
export function answerWithMessage(world: World, interaction: LocalInteraction, draft: MessageDraft): LocalMessage {
  const message = post(world, interaction, draft, Boolean((draft.flags ?? 0) & MessageFlags.Ephemeral));
  interaction.response = message;
  settle(world, interaction);
  return message;
}

/** "… is thinking": a message with the Loading flag, to be edited later. */
export function deferAnswer(world: World, interaction: LocalInteraction, ephemeral: boolean): LocalMessage {
  interaction.deferredEphemeral = ephemeral;
  const message = post(world, interaction, { content: '', flags: MessageFlags.Loading }, ephemeral);
  interaction.response = message;
  interaction.advance('deferred');
  world.notify({ type: 'interactionDefer', interaction });
  return message;
}

/** Acknowledges a component without showing anything; `@original` is then the message that was pressed. */
export function acknowledgeComponent(world: World, interaction: LocalInteraction): void {
  interaction.response = pressedMessage(interaction);
  settle(world, interaction);
}

/** Edits the message that was pressed. */
export function updatePressed(world: World, interaction: LocalInteraction, edit: MessageEdit): LocalMessage {
  const message = pressedMessage(interaction);
  editMessage(world, message, botPermissions(world, interaction), edit);
  interaction.response = message;
  settle(world, interaction);
  return message;
}

/** A further message; the first one after a deferral takes the place of "thinking…", as on Discord. */
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
  if (interaction.deferred && message === interaction.response) settle(world, interaction);
}

/** Marks it answered, with whatever the caller has put on it. */
export function settle(world: World, interaction: LocalInteraction): void {
  interaction.advance('answered');
  world.notify({ type: 'interactionAnswer', interaction });
}

/** The message whose component was used, also through a modal. @throws 50035 when there is none */
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

/** The first answer to a command says which command it answers. */
function answerType({ source }: LocalInteraction): { type?: MessageType } {
  if (source.kind !== 'command') return {};
  return { type: source.menu ? MessageType.ContextMenuCommand : MessageType.ChatInputCommand };
}

function botPermissions(world: World, { channel, application }: LocalInteraction): bigint {
  return channelPermissions(channel, application.user, world.clock.now());
}
