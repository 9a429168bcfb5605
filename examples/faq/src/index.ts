import { definePlugin, option, UserError, z } from '@cinnabar/sdk';
import Fuse from 'fuse.js';

const entry = z.object({ question: z.string(), answer: z.string() });

/** Answers frequent questions, however they are spelled: with a package from npm. */
export default definePlugin({
  manifest: { id: 'faq', version: '0.1.0', description: 'Answers frequent questions, however they are spelled' },
  collections: {
    entries: { scope: 'guild', version: 1, schema: z.object({ list: z.array(entry).max(200).default([]) }) },
  },
  setup({ command, collections }) {
    command({
      name: 'faq',
      description: 'Answers a frequent question',
      access: { where: 'guild' },
      options: { question: option.rest().describe('The question') },
      async run(context, { question }) {
        const { list } = await collections.entries.of(context.actor.guildId ?? '').get();
        const [found] = new Fuse(list, { keys: ['question'], ignoreLocation: true }).search(question);
        if (found === undefined) throw new UserError('No one has answered that yet.');
        await context.reply(found.item.answer);
      },
    });
    command({
      name: 'faq-add',
      description: 'Adds a frequent question',
      access: { tier: 'mod', where: 'guild' },
      options: { text: option.rest().describe('The question and its answer, with | between them') },
      examples: ['faq-add How do I join? | Ask in #welcome.'],
      async run(context, { text }) {
        const [question = '', answer = ''] = text.split('|').map((part) => part.trim());
        if (question === '' || answer === '')
          throw new UserError('Give a question and its answer, with | between them.');
        await collections.entries.of(context.actor.guildId ?? '').update(({ list }) => {
          list.push({ question, answer });
        });
        await context.reply('Added.');
      },
    });
  },
});
