import { editAnswer, followUp } from '../../actions/answer-interaction.js';
import { deleteMessage } from '../../actions/delete-message.js';
import { editWebhookMessage, executeWebhook, webhookByToken } from '../../actions/webhooks.js';
import { discordError } from '../../errors.js';
import { messagePayload } from '../../payload/message.js';
import { fullViewer } from '../../rules/message-content.js';
import type { LocalInteraction } from '../../state/interaction.js';
import type { LocalMessage } from '../../state/message.js';
import type { LocalWebhook } from '../../state/webhook.js';
import type { RestContext } from '../context.js';
import { messageEditForm, messageForm, toDraft, toEdit } from '../forms/message.js';
import { webhookExecuteForm } from '../forms/webhook.js';
import { openRoute } from '../route.js';

const BASE = '/webhooks/:webhookId/:token';

/** The same paths serve webhooks, and interactions under their application's id. */
type Holder = { interaction: LocalInteraction; webhook?: never } | { webhook: LocalWebhook; interaction?: never };

function holderOf({ world, param }: RestContext): Holder {
  if (!world.applications.has(param('webhookId'))) {
    return { webhook: webhookByToken(world, param('webhookId'), param('token')) };
  }
  const interaction = world.interactions.get(param('token'));
  if (interaction?.application.id !== param('webhookId') || !interaction.tokenValid)
    throw discordError('invalidWebhookToken');
  if (!interaction.acknowledged) throw discordError('unknownWebhook');
  return { interaction };
}

function messageOf(context: RestContext, holder: Holder): LocalMessage {
  const id = context.param('messageId');
  const message = holder.interaction ? answerOf(holder.interaction, id) : webhookMessage(context, holder.webhook, id);
  if (!message || message.deleted) throw discordError('unknownMessage');
  return message;
}

function webhookMessage({ world, query }: RestContext, webhook: LocalWebhook, id: string): LocalMessage | undefined {
  const channel = world.channels.get(query.get('thread_id') ?? webhook.channel.id);
  const message = channel?.messagesById.get(id);
  return message?.webhookId === webhook.id ? message : undefined;
}

function answerOf(interaction: LocalInteraction, id: string): LocalMessage | undefined {
  if (id === '@original') return interaction.response;
  return interaction.response?.id === id
    ? interaction.response
    : interaction.messages.find((message) => message.id === id);
}

function payload(context: RestContext, message: LocalMessage) {
  return messagePayload(message, fullViewer(context.param('webhookId')));
}

export const webhookMessageRoutes = [
  openRoute('POST', BASE, (context) => {
    const holder = holderOf(context);
    if (holder.interaction) {
      const draft = toDraft(context.form(messageForm), context.files);
      return payload(context, followUp(context.world, holder.interaction, draft));
    }
    const form = context.form(webhookExecuteForm);
    const message = executeWebhook(context.world, holder.webhook, {
      draft: toDraft(form, context.files),
      username: form.username ?? undefined,
      avatarUrl: form.avatar_url ?? undefined,
      threadId: context.query.get('thread_id') ?? undefined,
      threadName: form.thread_name ?? undefined,
    });
    return context.query.get('wait') === 'true' ? payload(context, message) : undefined;
  }),
  openRoute('GET', `${BASE}/messages/:messageId`, (context) => payload(context, messageOf(context, holderOf(context)))),
  openRoute('PATCH', `${BASE}/messages/:messageId`, (context) => {
    const holder = holderOf(context);
    const message = messageOf(context, holder);
    const edit = toEdit(context.form(messageEditForm), context.files);
    if (holder.interaction) editAnswer(context.world, holder.interaction, message, edit);
    else editWebhookMessage(context.world, message, edit);
    return payload(context, message);
  }),
  openRoute('DELETE', `${BASE}/messages/:messageId`, (context) => {
    deleteMessage(context.world, messageOf(context, holderOf(context)));
    return undefined;
  }),
];
