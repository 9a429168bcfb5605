import {
  type Access,
  type Actor,
  type CommandContext,
  isNotice,
  type Registrar,
  TIERS,
  t,
  UserError,
  z,
} from '@cinnabar/sdk';
import { PermissionFlagsBits, type SendableChannels } from 'discord.js';
import type { ChatServices } from '../plugin-context.js';

interface Answer {
  /** The member for whom it was written. */
  readonly userId: string;
  readonly ids: readonly string[];
}

const LOOK_BACK = 50;

/** Registers `m`: makes the bot answer, stops it, deletes its last answer, or has it continue. */
export function registerMCommand({ command }: Pick<Registrar, 'command'>, parts: ChatServices): void {
  const { access, log } = parts;
  command({
    name: 'm',
    description: 'Let me speak, stop me, take my last answer back, or have me go on',
    surface: 'prefix',
    help: [
      '`m` or `m activate`: I say something to what was said last.',
      '`m continue`: I go on with my last answer.',
      '`m stop`: I stop the answer that I am making for you; a moderator stops all that I am making here.',
      '`m delete`: I delete my last answer, or the one that it replies to.',
      'Where there are several bots, it is for the one that it names (by a mention or a prefix of its own) or whose message it replies to, else for the one that spoke last.',
      '`continue` and `delete` are for whoever the answer was for, and for moderators. The command is taken away where I may.',
    ].join('\n'),
    options: { what: z.enum(['activate', 'continue', 'stop', 'delete']).default('activate').describe('What to do') },
    examples: ['m', 'm continue', 'm stop', 'm delete'],
    async run(ctx, { what }) {
      const { channel } = ctx;
      if (!channel.isSendable()) throw new UserError(t('I cannot write in this channel.'));
      if (!(await isMeant(parts, ctx, channel))) return;
      if (what === 'stop') await stop(ctx, parts);
      else if (what === 'activate') await speak(ctx, parts, 'activate');
      else {
        const answer = await answerMeant(parts, ctx, channel, what);
        await assertMayChange(ctx, answer, access);
        if (what === 'continue') await speak(ctx, parts, 'continue');
        else {
          for (const id of answer.ids) await channel.messages.delete(id);
          await deleteCommand(ctx, log);
        }
      }
    },
  });
}

/**
 * Whether the command is for this bot. Several bots may receive it: it is for the one that it names or replies to, otherwise for the one that is answering or
 * answered last.
 */
async function isMeant(
  { history, frontDoor, prefixes }: ChatServices,
  { actor, message, prefix, signal }: CommandContext,
  channel: SendableChannels,
): Promise<boolean> {
  if (prefixes.namesBot(prefix)) return true;
  // A reply to another bot's message is a command for that bot.
  if (message?.reference?.messageId !== undefined) return true;
  if (frontDoor?.isAnswering(actor.channelId) === true) return true;
  const { messages } = await history.window(channel, { limit: LOOK_BACK, readers: [actor], historyRoles: [], signal });
  const last = messages.findLast((one) => one.author.bot && one.card !== true && !isNotice(one));
  return last === undefined || last.author.self || last.author.ownWebhook === true;
}

/** @throws UserError when nothing can be stopped, or the answer is for another member */
async function stop(ctx: CommandContext, { frontDoor, access, log }: ChatServices): Promise<void> {
  const { actor } = ctx;
  if (frontDoor === undefined) throw new UserError(t('Nothing brings me what is said: the plugin `ai` is not loaded.'));
  const isModerator = await mayModerate(actor, access);
  const { stopped, found } = frontDoor.stop(
    actor.channelId,
    (turn) => isModerator || turn.actor.userId === actor.userId,
  );
  if (found === 0) throw new UserError(t('I am not answering anything here.'));
  if (stopped === 0)
    throw new UserError(t('That answer is not for you: the member who asked can do that, or a moderator.'));
  await ctx.reply(t('Stopped.'));
  await deleteCommand(ctx, log);
}

async function speak(ctx: CommandContext, { frontDoor, log }: ChatServices, trigger: 'activate' | 'continue') {
  const { message, actor } = ctx;
  if (message === null) return;
  if (frontDoor === undefined) throw new UserError(t('Nothing brings me what is said: the plugin `ai` is not loaded.'));
  if ((await frontDoor.responderIn(actor.guildId, actor.channelId)) !== 'chat')
    throw new UserError(t('Another responder answers in this channel: `!ai status` shows which.'));
  const taken = frontDoor.take(message, { trigger, responder: 'chat', text: '' });
  await deleteCommand(ctx, log);
  await taken;
}

/** Deletes the command's message, which is not part of the conversation, if the bot may. */
async function deleteCommand({ message, guild, channel }: CommandContext, log: ChatServices['log']): Promise<void> {
  const me = guild?.members.me;
  if (message === null || me == null || channel.isDMBased()) return;
  if (!channel.permissionsFor(me).has(PermissionFlagsBits.ManageMessages)) return;
  await message.delete().catch((error: unknown) => log.debug('an m command could not be removed', { error }));
}

/**
 * The answer that is replied to, otherwise the newest one that still exists. Receipts contain the ids of answers' messages.
 * @throws UserError without one, or to continue an answer other than the newest
 */
async function answerMeant(
  { history, accounts }: ChatServices,
  { actor, message, signal }: CommandContext,
  channel: SendableChannels,
  what: 'continue' | 'delete',
): Promise<Answer> {
  if (accounts === undefined)
    throw new UserError(t('I do not keep which messages are my answers: the plugin `accounts` is not loaded.'));
  const { messages } = await history.window(channel, { limit: LOOK_BACK, readers: [actor], historyRoles: [], signal });
  const standing = new Set(messages.map(({ id }) => id));
  const referred = message?.reference?.messageId;
  const answers = (await accounts.receipts(channel.id, 'chat')).flatMap(({ actor: requester, messageIds }) => {
    const ids = messageIds.filter((id) => standing.has(id) || id === referred);
    return ids.length === 0 ? [] : [{ userId: requester.userId, ids }];
  });
  const [newest] = answers;
  if (newest === undefined) throw new UserError(t('I have not answered anything here lately.'));
  const meant = referred === undefined ? newest : answers.find(({ ids }) => ids.includes(referred));
  // A reply to a question, or to another member's message, names no answer.
  if (meant === undefined && what === 'continue') return newest;
  if (meant === undefined) throw new UserError(t('That is not one of my recent answers.'));
  if (what === 'continue' && meant !== newest)
    throw new UserError(t('I can only continue my last answer, and that is an earlier one.'));
  return meant;
}

/** @throws UserError for members for whom it was not written, except moderators */
async function assertMayChange({ actor }: CommandContext, { userId }: Answer, access: Access): Promise<void> {
  if (userId === actor.userId) return;
  if (await mayModerate(actor, access)) return;
  throw new UserError(t('That answer was not for you: the member who asked can do that, or a moderator.'));
}

async function mayModerate(actor: Actor, access: Access): Promise<boolean> {
  return TIERS.indexOf(await access.tierOf(actor)) >= TIERS.indexOf('mod');
}
