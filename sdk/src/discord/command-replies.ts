import { ButtonStyle, ComponentType, MessageFlags } from 'discord.js';
import type { AccessPolicy } from '../access.js';
import type { Clock, Random } from '../clock.js';
import type { CommandContext, ComponentInteraction, ReplyBody } from '../commands.js';
import type { Registrar } from '../context.js';
import { sentenceOf, UserError } from '../errors.js';
import { t } from '../text/language.js';
import { asNotice } from './messages.js';

/**
 * Answers a command with a notice that only its caller sees: ephemeral for a slash command, else by direct message.
 * @param slash the command to suggest when direct messages are closed
 * @throws UserError when the member accepts no direct messages
 */
export async function replyPrivately(
  ctx: CommandContext,
  { content = '', files = [] }: Pick<ReplyBody, 'content' | 'files'>,
  slash: string = ctx.name,
): Promise<unknown> {
  if (ctx.source === 'slash' || ctx.channel.isDMBased()) return ctx.reply({ content, files, ephemeral: true });
  try {
    await ctx.user.send({ content: asNotice(content), files });
  } catch (cause) {
    throw new UserError(
      t('I cannot write you a direct message. Allow them for this server, or use `/{slash}`.', { slash }),
      { cause },
    );
  }
  return ctx.reply(t('I have sent it to you in a direct message.'));
}

/** The question before an action that is hard to undo. */
export interface FirstQuestion {
  /** The consequence of confirming. */
  readonly content: string;
  /** Label of the confirming button: "Delete everything". */
  readonly yes: string;
  /**
   * Carries it out. Resolves with the text to show.
   * @param show replaces the question by a progress report
   */
  run(show: (text: string) => Promise<void>): Promise<string>;
}

/** Sends a question to the caller of a command. Resolves when it has been sent. */
export type AskFirst = (ctx: CommandContext, question: FirstQuestion) => Promise<void>;

interface AskFirstOptions extends Pick<Registrar, 'component'> {
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Pick<Random, 'id'>;
  /** The name of the component; unique in the plugin. */
  readonly name?: string;
  /** Checked again when the button is pressed. */
  readonly access?: AccessPolicy;
}

/** Discord's limit of a message. */
const LONGEST = 2_000;
/** How long a question can be answered. */
const WAITS_MS = 5 * 60_000;

/**
 * Asks before a command does something: a message with two buttons that only its caller can press, for five minutes. The question is dropped when the plugin
 * stops; a press on the buttons then gets a notice.
 * @example await askFirst(ctx, { content: 'This deletes everything.', yes: 'Delete everything', run: async () => 'All gone.' });
 */
export function createAskFirst({ component, clock, random, name = 'ask-first', access }: AskFirstOptions): AskFirst {
  const waiting = new Map<string, FirstQuestion & { readonly userId: string; readonly until: number }>();
  const handle = component({
    name,
    ...(access === undefined ? {} : { access }),
    // The audit records the command that sent the question.
    audited: false,
    run: (interaction, [id = '', answer = '']) => decide(interaction, id, answer === 'yes'),
  });

  async function decide(interaction: ComponentInteraction, id: string, isYes: boolean): Promise<void> {
    if (!interaction.isButton()) return;
    const asked = waiting.get(id);
    if (asked !== undefined && asked.userId !== interaction.user.id) {
      await interaction.reply({
        content: t('Only the person who was asked can answer this.'),
        flags: MessageFlags.Ephemeral,
      });
      return;
    }
    waiting.delete(id);
    if (asked === undefined || asked.until < clock.now()) {
      await interaction.update({
        content: t('This question is too old to be answered. Please give the command again.'),
        components: [],
      });
      return;
    }
    // A long question has its buttons on the last of its messages.
    const { content } = interaction.message;
    const answered = `${content}\n\n${isYes ? '…' : t('Not done.')}`;
    await interaction.update({ content: answered.length <= LONGEST ? answered : content, components: [] });
    if (!isYes) return;
    const show = async (content: string) => {
      await interaction.editReply({ content, allowedMentions: { parse: [] } });
    };
    const done = await asked.run(show).catch((error: unknown) => {
      const sentence = sentenceOf(error);
      if (sentence === undefined) throw error;
      return sentence;
    });
    await show(done);
  }

  return async (ctx, question) => {
    const now = clock.now();
    for (const [id, { until }] of waiting) if (until < now) waiting.delete(id);
    const id = random.id();
    waiting.set(id, { ...question, userId: ctx.actor.userId, until: now + WAITS_MS });
    const button = (answer: string, label: string, style: ButtonStyle.Danger | ButtonStyle.Secondary) =>
      ({ type: ComponentType.Button, style, label, custom_id: handle.customId(id, answer) }) as const;
    const components = [
      button('yes', question.yes, ButtonStyle.Danger),
      button('no', t('Cancel'), ButtonStyle.Secondary),
    ];
    await ctx.reply({ content: question.content, components: [{ type: ComponentType.ActionRow, components }] });
  };
}
