import {
  type APIApplicationCommandOption,
  ApplicationCommandType,
  ApplicationIntegrationType,
  InteractionContextType,
} from 'discord-api-types/v10';
import { z } from 'zod';
import { checkOptions, isChatInputName, isCommandOption } from '../../rules/command-shape.js';

const localizations = z.record(z.string(), z.string().nullable()).nullish();

const options = z
  .array(
    z.custom<APIApplicationCommandOption>(isCommandOption, {
      error: 'Invalid option',
      params: { code: 'BASE_TYPE_BAD_TYPE' },
    }),
  )
  .superRefine((list, context) => {
    for (const issue of checkOptions(list)) {
      context.addIssue({ code: 'custom', path: [...issue.path], message: issue.message, params: { code: issue.code } });
    }
  });

const fields = {
  name: z.string().min(1).max(32),
  name_localizations: localizations,
  description: z.string().max(100).nullish(),
  description_localizations: localizations,
  options: options.nullish(),
  default_member_permissions: z.string().regex(/^\d+$/).nullish(),
  dm_permission: z.boolean().nullish(),
  contexts: z.array(z.enum(InteractionContextType)).nullish(),
  integration_types: z.array(z.enum(ApplicationIntegrationType)).nullish(),
  nsfw: z.boolean().nullish(),
  type: z.enum(ApplicationCommandType).optional(),
};

export type CommandForm = z.infer<typeof commandForm>;
export type CommandChanges = z.infer<typeof commandEditForm>;

/** A command as a bot registers it. */
export const commandForm = z.object(fields).superRefine((command, context) => {
  const chatInput = (command.type ?? ApplicationCommandType.ChatInput) === ApplicationCommandType.ChatInput;
  if (!chatInput) return;
  if (!isChatInputName(command.name)) {
    context.addIssue({
      code: 'custom',
      path: ['name'],
      message: 'Command name is invalid',
      params: { code: 'APPLICATION_COMMAND_INVALID_NAME' },
    });
  }
  if (!command.description) {
    context.addIssue({
      code: 'custom',
      path: ['description'],
      message: 'This field is required',
      params: { code: 'BASE_TYPE_REQUIRED' },
    });
  }
});

export const commandListForm = z.array(commandForm).superRefine((commands, context) => {
  const seen = new Set<string>();
  for (const [index, command] of commands.entries()) {
    const key = `${command.type ?? 1}:${command.name}`;
    if (seen.has(key)) {
      const message = 'Application command names must be unique';
      context.addIssue({
        code: 'custom',
        path: [index, 'name'],
        message,
        params: { code: 'APPLICATION_COMMANDS_DUPLICATE_NAME' },
      });
    }
    seen.add(key);
  }
});

export const commandEditForm = z.object(fields).partial();
