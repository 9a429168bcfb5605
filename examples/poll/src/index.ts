import { definePlugin, option, plainText, UserError, z } from '@cinnabar/sdk';
import { ActionRowBuilder, ButtonBuilder, ButtonStyle } from 'discord.js';

const poll = z.object({
  question: z.string(),
  answers: z.array(z.string()),
  /** The index of each member's answer. */
  votes: z.record(z.string(), z.number()).default({}),
});
type Poll = z.output<typeof poll>;

/** Polls with a button for each answer and a live tally. Each poll is a stored document, indexed by its message, so that it survives restarts. */
export default definePlugin({
  manifest: { id: 'poll', version: '0.1.0', description: 'Polls with buttons', permissions: ['SendMessages'] },
  settings: {
    guild: z.object({
      mostAnswers: z.number().int().min(2).max(5).default(5).describe('How many answers a poll may have'),
    }),
  },
  collections: {
    polls: {
      scope: 'message',
      version: 1,
      schema: poll,
      personal: {
        by: ({ votes }: Poll) => Object.keys(votes),
        export: ({ question, answers, votes }: Poll, userId: string) => ({
          question,
          answer: answers[votes[userId] ?? -1],
        }),
        forget: ({ votes }: Poll, userId: string) => delete votes[userId],
      },
    },
  },
  setup({ command, component, settings, collections }) {
    const vote = component({
      name: 'vote',
      access: { where: 'guild' },
      async run(interaction, [answer]) {
        if (!interaction.isButton()) return;
        const document = collections.polls.of(interaction.message);
        if ((await document.find())?.answers[Number(answer)] === undefined) throw new UserError('This poll is over.');
        const changed = await document.update(({ votes }) => {
          votes[interaction.user.id] = Number(answer);
        });
        await interaction.update(shown(changed));
      },
    });

    const shown = ({ question, answers, votes }: Poll) => ({
      content: [
        `📊 **${plainText(question)}**`,
        ...answers.map(
          (answer, at) => `${plainText(answer)}: ${Object.values(votes).filter((one) => one === at).length}`,
        ),
      ].join('\n'),
      components: [
        new ActionRowBuilder<ButtonBuilder>().addComponents(
          answers.map((answer, at) =>
            new ButtonBuilder()
              .setCustomId(vote.customId(`${at}`))
              .setLabel(answer)
              .setStyle(ButtonStyle.Secondary),
          ),
        ),
      ],
    });

    command({
      name: 'poll',
      description: 'Asks the channel',
      access: { where: 'guild' },
      options: { text: option.rest().describe('The question and the answers, with | between them') },
      examples: ['poll Pizza tonight? | yes | no'],
      async run(context, { text }) {
        const [question = '', ...answers] = text.split('|').map((part) => part.trim());
        const { mostAnswers } = await settings.guild(context.actor.guildId).get();
        if (answers.length < 2 || answers.length > mostAnswers) {
          throw new UserError(`Give a question and 2 to ${mostAnswers} answers, with | between them.`);
        }
        if (answers.some((answer) => answer === '' || answer.length > 80)) {
          throw new UserError('Each answer has 1 to 80 characters.');
        }
        const asked: Poll = { question, answers, votes: {} };
        const message = await context.reply(shown(asked));
        await collections.polls.of(message).set(asked);
      },
    });
  },
});
