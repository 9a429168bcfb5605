import { definePlugin } from '@cinnabar/sdk';

export default definePlugin({
  manifest: {
    id: 'accounts',
    version: '0.1.0',
    description: 'What answers cost: receipts, sums and budgets',
    host: '^0.1.0',
  },
  setup() {},
});
