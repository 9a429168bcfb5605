import { type Registrar, type ToolDefinition, t, visible, z } from '@cinnabar/sdk';
import { type CustomCommand, type CustomContext, creating, LIMITS } from './context.js';
import type { CustomStore } from './store.js';

const name = z.string().min(1).max(32).describe('Its name, without a prefix');
const text = z
  .string()
  .min(1)
  .max(LIMITS.text)
  .describe('What it answers; {0}, {author.mention} and the like are filled in');
const createInput = z.object({ name, text });
const deleteInput = z.object({ name });

/** The commands' actions as tools for models. The commands' rules decide who may create. */
export function registerTools(
  { tool, settings }: Pick<CustomContext, 'settings'> & Pick<Registrar, 'tool'>,
  store: CustomStore,
): void {
  const access = creating(settings);
  const create: ToolDefinition<typeof createInput, CustomCommand> = {
    name: 'create_custom_command',
    description: 'Creates a command of this server that answers with a text.',
    input: createInput,
    risk: 'write',
    access,
    examples: ['create a command {name} that says {text}'],
    present: {
      sentence: (input) =>
        t("I'll create the command {name}: {text}", { name: visible(input.name), text: visible(input.text) }),
      said: ['name', 'text'],
      action: 'Create a custom command',
      success: (_, made) => t('✓ The command {name} is there.', { name: made.name }),
    },
    run: (input, { actor }) => store.create(actor, input.name, input.text),
  };
  const remove: ToolDefinition<typeof deleteInput, string> = {
    name: 'delete_custom_command',
    description: 'Deletes a command of this server that answers with a text.',
    input: deleteInput,
    risk: 'destructive',
    access,
    examples: ['delete the custom command {name}'],
    present: {
      sentence: (input) => t("I'll delete the custom command {name}", { name: visible(input.name) }),
      said: ['name'],
      action: 'Delete a custom command',
      success: (_, gone) => t('✓ The command {name} is deleted.', { name: gone }),
    },
    async run(input, { actor }) {
      await store.remove(actor, 'commands', input.name);
      return input.name.toLowerCase();
    },
  };
  const list: ToolDefinition<z.ZodObject, readonly CustomCommand[]> = {
    name: 'list_custom_commands',
    description: 'Lists the custom commands of this server and what they answer.',
    input: z.object({}),
    risk: 'read',
    access: { where: 'guild' },
    examples: ['which custom commands are there?', 'list the custom commands'],
    present: {
      sentence: () => t("I'll list the custom commands of this server"),
      action: 'List custom commands',
      success: (_, all) =>
        all.length === 0
          ? t('There are none.')
          : all.map((one) => `${one.name}: ${one.answers.join(' | ')}`).join('\n'),
    },
    run: (_, { actor }) => store.of(actor.guildId ?? '').commands,
  };
  tool(create);
  tool(remove);
  tool(list);
}
