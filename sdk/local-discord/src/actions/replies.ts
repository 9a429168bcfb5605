import { invalidForm } from '../errors.js';
import type { LocalChannel } from '../state/channel.js';
import type { LocalMessage } from '../state/message.js';
import type { MessageDraft } from './message-draft.js';

/** The message that a draft answers. Unknown: 50035, or no reference at all with `fail_if_not_exists: false`. */
export function resolveReply(channel: LocalChannel, draft: MessageDraft): LocalMessage | undefined {
  if (!draft.replyTo) return undefined;
  const replied = channel.messagesById.get(draft.replyTo.messageId);
  if (replied) return replied;
  if (!draft.replyTo.failIfMissing) return undefined;
  throw invalidForm({ path: ['message_reference'], code: 'REPLIES_UNKNOWN_MESSAGE', message: 'Unknown message' });
}
