import type { PersonaTrigger } from '@cinnabar/sdk';

/** What has just happened, as the persona is told of it: plain data. */
export function happening(trigger: PersonaTrigger): Readonly<Record<string, unknown>> {
  const { content } = trigger;
  switch (trigger.type) {
    case 'user_input':
      return { what: 'somebody said something to me', from: trigger.speaker.name, said: content };
    case 'tool_result':
      return {
        what: 'a tool call that had to wait has ended',
        for: trigger.speaker.name,
        tool: trigger.tool,
        result: content,
      };
    case 'timer':
      return { what: 'nobody has said anything to me; some time has passed', note: content };
    case 'self_reflection':
      return { what: 'a quiet moment to reflect on what has happened', note: content };
    case 'reaction':
      return {
        what: 'somebody reacted to what I said',
        who: trigger.by.name,
        with: trigger.emoji,
        'what I had said': content,
      };
    case 'member_joined':
      return { what: 'somebody new has joined the server', who: trigger.member.name };
  }
}

/** Why the persona ran, in the first person, for the receipt. */
export function reasonFor(trigger: PersonaTrigger): string {
  switch (trigger.type) {
    case 'user_input':
      return 'I was spoken to';
    case 'tool_result':
      return `A call of ${trigger.tool} that had to wait has ended`;
    case 'timer':
      return 'It was time to think of my own accord';
    case 'self_reflection':
      return 'Enough had happened to reflect on it';
    case 'reaction':
      return 'Somebody reacted to what I had said';
    case 'member_joined':
      return 'Somebody joined';
  }
}
