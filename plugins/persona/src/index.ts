import { definePlugin } from '@cinnabar/sdk';

export default definePlugin({
  manifest: { id: 'persona', version: '0.1.0', description: 'A mind that plans its actions', host: '^0.1.0' },
  setup() {},
});
