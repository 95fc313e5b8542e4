import { add, type PythonNumber, subtract, toDouble } from '../python/arithmetic.ts'
import { repr } from '../python/repr.ts'
import { formatFixed } from '../python/round.ts'
import { float, type PythonValue } from '../python/value.ts'
import { type Api, attributesOf, type Chance, draw, type Fields, fieldOf, removeFrom } from './api.ts'
import { readTime } from './dates.ts'
import { type Dict, dictOf, findItem, setItem } from './dict.ts'

interface Trading extends Chance {
  /** By their ids, which are ints; some scenarios have a text among them, where a field of an order should be. */
  orders: Dict<Fields>
  account_info: Record<string, PythonNumber>
  authenticated: boolean
  market_status: string
  order_counter: number
  stocks: Record<string, Fields>
  watch_list: string[]
  transaction_history: Fields[]
}

type CallArguments = Record<'name' | 'symbol' | 'order_type' | 'sector' | 'stock', string> &
  Record<'price' | 'min_price' | 'max_price' | 'threshold' | 'amount', PythonNumber> & {
    order_id: number
    stocks: string[]
    start_date?: string | null
    end_date?: string | null
  }

export const trading: Api<Trading, CallArguments> = {
  load(scenario, sources) {
    const state = attributesOf<Trading>(scenario, sources, 'orders')
    const idOf = (key: PythonValue) => (typeof key === 'string' && /^\d+$/.test(key) ? Number(key) : key)
    return { ...state, orders: { $dict: state.orders.$dict.map(([key, order]) => [idOf(key), order]) } }
  },
  methods: {
    get_current_time: () => ({ current_time: '10:30 AM' }),
    get_symbol_by_name: (_, { name }, { constant }) => ({
      symbol: findItem(dictOf(constant('symbol_map')), name) ?? 'Stock not found',
    }),
    get_stock_info({ stocks }, { symbol }, { long }) {
      const stock = Object.hasOwn(stocks, symbol) && stocks[symbol]
      if (!stock) return { error: `Stock with symbol '${symbol}' not found.` }
      const five = long('MA_5_EXTENSION')
      return five ? { ...stock, 'MA(5)': five, 'MA(20)': long('MA_20_EXTENSION') } : stock
    },
    get_order_details({ orders }, { order_id }, { long }) {
      const order = findItem(orders, order_id)
      if (!order) {
        const ids = repr(orders.$dict.map(([id]) => id))
        return { error: `Order with ID ${order_id} not found.Here is the list of orders_id: ${ids}` }
      }
      const texts = long<Record<string, string>>('ORDER_DETAIL_EXTENSION')
      if (!texts) return order
      const symbol = String(fieldOf(order, 'symbol'))
      const metadata = Object.entries(texts).map(([key, text]) => [key, text.replaceAll('{symbol}', symbol)])
      return { ...order, metadata: Object.fromEntries(metadata) }
    },
    cancel_order({ orders }, { order_id }) {
      const order = findItem(orders, order_id)
      if (!order) return { error: `Order with ID ${order_id} not found.` }
      if (fieldOf(order, 'status') === 'Completed')
        return { error: `Can't cancel order ${order_id}. Order is already completed.` }
      order.status = 'Cancelled'
      return { order_id, status: 'Cancelled' }
    },
    place_order(state, { order_type, symbol, price: given, amount }) {
      if (!state.authenticated) return stranger('place an order')
      if (!Object.hasOwn(state.stocks, symbol)) return { error: `Invalid stock symbol: ${symbol}` }
      const [price, count] = [toDouble(given), toDouble(amount)]
      if (price <= 0 || count <= 0) return { error: 'Price and amount must be positive values.' }
      const [cost, balance] = [price * count, toDouble(state.account_info.balance ?? 0)]
      if (order_type.toLowerCase() === 'buy' && cost > balance) {
        const [required, available] = [formatFixed(cost, 2), formatFixed(balance, 2)]
        return { error: `Insufficient funds: required $${required} but only $${available} available.` }
      }
      const id = state.order_counter
      const placed = { order_type, symbol, price: float(price), amount }
      setItem(state.orders, id, { id, ...placed, status: 'Open' })
      state.order_counter += 1
      return { order_id: id, order_type, status: 'Pending', price: placed.price, amount }
    },
    withdraw_funds(state, { amount }) {
      if (!state.authenticated) return stranger('make a transaction')
      if (state.market_status !== 'Open') return { error: 'Market is closed. Transactions are not allowed.' }
      if (toDouble(amount) <= 0) return { error: 'Transaction amount must be positive.' }
      const balance = fieldOf(state.account_info, 'balance')
      if (toDouble(amount) > toDouble(balance)) return { error: 'Insufficient funds for withdrawal.' }
      return { status: 'Withdrawal successful', new_balance: pay(state, 'withdrawal', amount, subtract) }
    },
    get_account_info: ({ authenticated, account_info }) =>
      authenticated ? account_info : stranger('view account information'),
    trading_login(state) {
      if (state.authenticated) return { status: 'Already logged in' }
      state.authenticated = true
      return { status: 'Logged in successfully' }
    },
    trading_get_login_status: ({ authenticated }) => ({ status: Boolean(authenticated) }),
    trading_logout(state) {
      if (!state.authenticated) return { status: 'No user is currently logged in' }
      state.authenticated = false
      return { status: 'Logged out successfully' }
    },
    fund_account(state, { amount }) {
      if (!state.authenticated) return stranger('fund the account')
      if (toDouble(amount) <= 0) return { error: 'Funding amount must be positive.' }
      return { status: 'Account funded successfully', new_balance: pay(state, 'deposit', amount, add) }
    },
    remove_stock_from_watchlist({ authenticated, watch_list }, { symbol }) {
      if (!authenticated) return stranger('modify the watchlist')
      if (!removeFrom(watch_list, symbol)) return { error: `Stock ${symbol} not found in watchlist.` }
      return { status: `Stock ${symbol} removed from watchlist successfully.` }
    },
    get_watchlist({ authenticated, watch_list }, _, { long }) {
      if (!authenticated) return ['Error: User not authenticated. Please log in to view the watchlist.']
      const extension = long<PythonValue[]>('WATCH_LIST_EXTENSION')
      return extension ? [...watch_list, ...extension] : { watchlist: watch_list }
    },
    get_order_history: ({ authenticated, orders }) =>
      authenticated ? { history: orders.$dict.map(([id]) => id) } : [stranger('view order history')],
    get_transaction_history({ authenticated, transaction_history }, { start_date, end_date }, { long }) {
      if (!authenticated) return [stranger('view transaction history')]
      const start = start_date ? readTime(start_date, '%Y-%m-%d') : ''
      const end = end_date ? readTime(end_date, '%Y-%m-%d') : '~'
      const history = transaction_history.filter((transaction) => {
        const time = readTime(String(fieldOf(transaction, 'timestamp')), '%Y-%m-%d %H:%M:%S')
        return start <= time && time <= end
      })
      return { transaction_history: [...history, ...(long<PythonValue[]>('TRANSACTION_HISTORY_EXTENSION') ?? [])] }
    },
    get_available_stocks(_, { sector }, { constant, long }) {
      const stocks = constant<Record<string, string[]>>('sector_map')[sector]
      const extension = stocks && long<PythonValue[]>(`${sector.toUpperCase()}_EXTENSION`)
      return { stock_list: [...(stocks ?? []), ...(extension ?? [])] }
    },
    filter_stocks_by_price(state, { stocks, min_price, max_price }) {
      const filtered_stocks = stocks.filter((symbol) => {
        const price = toDouble((state.stocks[symbol]?.price ?? 0) as PythonNumber)
        return price >= toDouble(min_price) && price <= toDouble(max_price)
      })
      return { filtered_stocks }
    },
    add_to_watchlist({ stocks, watch_list }, { stock }) {
      if (!watch_list.includes(stock) && Object.hasOwn(stocks, stock)) watch_list.push(stock)
      return { watchlist: watch_list }
    },
    notify_price_change(state, { stocks, threshold }) {
      const changed = stocks.filter((symbol) => {
        const stock = Object.hasOwn(state.stocks, symbol) && state.stocks[symbol]
        return stock && Math.abs(toDouble(fieldOf(stock, 'percent_change') as PythonNumber)) >= toDouble(threshold)
      })
      if (changed.length === 0) return { notification: 'No significant price changes in the selected stocks.' }
      return { notification: `Stocks ${changed.join(', ')} have significant price changes.` }
    },
  },
}

function stranger(wish: string) {
  return { error: `User not authenticated. Please log in to ${wish}.` }
}

/** The original's present, in seconds: 2024-09-01 10:30. */
const NOW = Date.UTC(2024, 8, 1, 10, 30) / 1_000

/** Changes the balance, and writes that down at a random time within a day. */
function pay(state: Trading, type: string, amount: PythonNumber, change: typeof add): PythonNumber {
  const balance = change(fieldOf(state.account_info, 'balance'), amount)
  state.account_info.balance = balance
  const time = draw(state, (random) => random.randint(NOW, NOW + 86_400))
  const timestamp = new Date(time * 1_000).toISOString().slice(0, 19).replace('T', ' ')
  state.transaction_history.push({ type, amount, timestamp })
  return balance
}
