import {
  asNotice,
  earliestIdAt,
  findSendable,
  findSendableIn,
  isRefusal,
  isUnreachable,
  type ModerationCase,
  sendOnce,
} from '@cinnabar/sdk';
import { caseText } from './case-text.js';
import type { Cases } from './cases.js';
import type { ModerationContext } from './settings.js';

/**
 * Why a case is not in the case channel. `gone`: the channel was deleted. `refused`: Discord refused the post. `later`: Discord could not be reached; the case
 * is posted at the next start.
 */
export type PostProblem = 'gone' | 'refused' | 'later';

/** Posts cases in the case channel of a guild, and updates the posts. */
export function createCaseLog({ client, settings, services, log, signal }: ModerationContext, cases: Cases) {
  const { clock, languages } = services;

  const edit = async ({ channelId, messageId }: NonNullable<ModerationCase['post']>, content: string) => {
    const channel = await findSendable(client, channelId);
    if (channel === undefined) return;
    await channel.messages.edit(messageId, { content, allowedMentions: { parse: [] } }).catch((error: unknown) => {
      if (!isUnreachable(error)) throw error;
      // The post was deleted, or the bot has lost access: only the record remains.
      log.info('the post of a case cannot be edited', { channelId, messageId });
    });
  };

  const post = async (guildId: string, one: ModerationCase, mayBeThere: boolean): Promise<PostProblem | undefined> => {
    const { modlog: channelId } = await settings.guild(guildId).get();
    if (channelId === undefined) return undefined;
    const channel = await findSendableIn(client, guildId, channelId);
    if (channel === undefined) return 'gone';
    const message = { content: asNotice(caseText(one)), allowedMentions: { parse: [] } };
    const sent = await sendOnce(channel, message, `case:${guildId}:${one.number}`, {
      clock,
      signal,
      ...(mayBeThere ? { sentAfter: earliestIdAt(one.at) } : {}),
    });
    await cases.change(guildId, one.number, (draft) => {
      draft.post = { channelId, messageId: sent.id };
    });
    return undefined;
  };

  return {
    /** Posts a case, or edits its post. @param mayBeThere an earlier run may have posted it */
    publish: (guildId: string, one: ModerationCase, mayBeThere = false): Promise<PostProblem | undefined> =>
      languages.speak({ guildId }, async () => {
        try {
          if (one.post === undefined) return await post(guildId, one, mayBeThere);
          await edit(one.post, asNotice(caseText(one)));
          return undefined;
        } catch (error) {
          log.warn('a case was not posted', { guildId, number: one.number, error });
          return isRefusal(error) ? 'refused' : 'later';
        }
      }),
  };
}
export type CaseLog = ReturnType<typeof createCaseLog>;
