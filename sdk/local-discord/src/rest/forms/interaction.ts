import type {
  APIApplicationCommandOptionChoice,
  APIModalInteractionResponseCallbackComponent,
} from 'discord-api-types/v10';
import { z } from 'zod';

function isModalComponent(value: unknown): value is APIModalInteractionResponseCallbackComponent {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'number';
}

/** A modal: a title, and one to five labelled inputs. */
export const modalForm = z.object({
  custom_id: z.string().min(1).max(100),
  title: z.string().min(1).max(45),
  components: z
    .array(
      z.custom<APIModalInteractionResponseCallbackComponent>(isModalComponent, {
        error: 'Invalid component',
        params: { code: 'UNION_TYPE_CHOICES' },
      }),
    )
    .min(1)
    .max(5),
});

function isChoice(value: unknown): value is APIApplicationCommandOptionChoice {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    value.name.length >= 1 &&
    value.name.length <= 100 &&
    'value' in value &&
    (typeof value.value === 'string' || typeof value.value === 'number')
  );
}

const choice = z.custom<APIApplicationCommandOptionChoice>(isChoice, {
  error: 'Must be between 1 and 100 in length.',
  params: { code: 'BASE_TYPE_BAD_LENGTH' },
});

/** Up to 25 suggestions. */
export const choicesForm = z.object({ choices: z.array(choice).max(25) });
