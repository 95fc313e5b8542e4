// The rules of the retail domain of τ², for worlds over a shop of their own.

export { roundToCents } from '../lib/tau2/calculate.ts'
export { ToolError } from '../lib/tau2/domain.ts'
export {
  type Address,
  createShop,
  type OpenShop,
  type Order,
  type PaymentMethod,
  type Product,
  REASONS,
  type Shop,
  type ShopRows,
  shopRowsSchema,
  shopSchema,
  type User,
  type Variant,
} from '../lib/tau2/retail/shop.ts'
export { SHOP_RULES } from '../lib/tau2/retail/shop-rules.ts'
export { rowOf } from '../lib/tau2/rows.ts'
